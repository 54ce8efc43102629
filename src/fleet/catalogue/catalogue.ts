import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { ModelConfig } from "#src/config/schema.ts";
import type { AllowedModels, Catalogue, ServedModel } from "./interface.ts";

/** A catalogue whose models can be replaced. */
export interface ConfiguredCatalogue extends Catalogue {
  /** Describes the models of a configuration. A model that is served already keeps its creation time. */
  describe(models: readonly ModelConfig[], createdAt: Date): ServedModel[];
  /** Serves these models from now on. */
  replace(models: readonly ServedModel[]): void;
}

/** The models of a configuration. `createdAt` is only shown to clients; it has no other meaning. */
export function createCatalogue(models: readonly ModelConfig[], createdAt: Date): ConfiguredCatalogue {
  let served: ReadonlyMap<string, ServedModel> = new Map(models.map((model) => [model.id, { ...model, createdAt }]));
  const isAllowed = (id: string, allowed: AllowedModels) => allowed === undefined || allowed.has(id);
  const get = (id: string, allowed?: AllowedModels): ServedModel => {
    const model = isAllowed(id, allowed) ? served.get(id) : undefined;
    if (model === undefined) {
      throw failure(
        Reason.MODEL_NOT_FOUND,
        `The model '${id.slice(0, 200)}' is not served. GET /v1/models lists what is.`,
        {
          parameter: "model",
        },
      );
    }
    return model;
  };
  return {
    list: (allowed) => [...served.values()].filter(({ id }) => isAllowed(id, allowed)),
    get,
    ofKind(id, kind, allowed) {
      const model = get(id, allowed);
      if (model.kind !== kind) {
        throw wrongKind(model);
      }
      return model;
    },
    describe: (others, since) =>
      others.map((model) => ({ ...model, createdAt: served.get(model.id)?.createdAt ?? since })),
    replace(others) {
      served = new Map(others.map((model) => [model.id, model]));
    },
  };
}

function wrongKind({ id, kind }: ServedModel) {
  const message =
    kind === "embedding"
      ? `The model '${id}' is an embedding model: it is served at /v1/embeddings only.`
      : `The model '${id}' generates text: it is not served at /v1/embeddings.`;
  return failure(Reason.MODEL_KIND_MISMATCH, message, { parameter: "model" });
}
