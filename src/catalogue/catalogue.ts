import { Reason } from "#gen/errors/v1/error_detail_pb.js";
import type { ModelConfig } from "../config/schema.ts";
import { failure } from "../errors.ts";
import type { Catalogue, ServedModel } from "./interface.ts";

/** The models of a configuration. `createdAt` is what clients are told; it has no other meaning. */
export function createCatalogue(models: readonly ModelConfig[], createdAt: Date): Catalogue {
  const served = new Map<string, ServedModel>(models.map((model) => [model.id, { ...model, createdAt }]));
  const get = (id: string): ServedModel => {
    const model = served.get(id);
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
    list: () => [...served.values()],
    get,
    ofKind(id, kind) {
      const model = get(id);
      if (model.kind !== kind) throw wrongKind(model);
      return model;
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
