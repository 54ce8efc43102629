import type { Exchange } from "../dialects/dialect.ts";
import type { ModelTraits } from "../engine/model.ts";
import { sendJson } from "./reply.ts";

/** GET /v1/models, with further fields for each entry. */
export function listModels(
  { host, response }: Exchange,
  fields: (traits: ModelTraits) => Readonly<Record<string, unknown>>,
): void {
  const created = Math.floor(host.settings.clock.now() / 1000);
  const data = Array.from(host.models.values(), ({ traits }) => ({
    id: traits.id,
    object: "model",
    created,
    ...fields(traits),
  }));
  sendJson(response, 200, { object: "list", data });
}
