import type { ModelConfig } from "#src/config/schema.ts";

/** A model as configured, every default filled in. */
export type ServedModel = ModelConfig & { readonly createdAt: Date };

/** Ids of the models that a caller may use. Undefined: all. */
export type AllowedModels = ReadonlySet<string> | undefined;

/** The served models. */
export interface Catalogue {
  /** The models that the caller may use, in the configured order. */
  list(allowed?: AllowedModels): readonly ServedModel[];
  /** Throws MODEL_NOT_FOUND, also for a model that the caller may not use. */
  get(id: string, allowed?: AllowedModels): ServedModel;
  /** As get, and throws MODEL_KIND_MISMATCH for a model of the other kind. */
  ofKind(id: string, kind: ServedModel["kind"], allowed?: AllowedModels): ServedModel;
}
