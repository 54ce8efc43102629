import type { ModelConfig } from "../config/schema.ts";

/** A model as configured, every default filled in. */
export type ServedModel = ModelConfig & { readonly createdAt: Date };

/** The models that are served. */
export interface Catalogue {
  /** All models in the configured order. */
  list(): readonly ServedModel[];
  /** Throws MODEL_NOT_FOUND. */
  get(id: string): ServedModel;
  /** As get, and throws MODEL_KIND_MISMATCH for a model of the other kind. */
  ofKind(id: string, kind: ServedModel["kind"]): ServedModel;
}
