import { CountTokensResponseSchema } from "#gen/tollgate/messages/v1/count_tokens_pb.js";
import { MessageSchema } from "#gen/tollgate/messages/v1/message_pb.js";
import { messagesServiceRoutes } from "#gen/tollgate/messages/v1/messages_service_http.js";
import { ListModelsResponseSchema, ModelSchema } from "#gen/tollgate/messages/v1/model_pb.js";
import { ServiceTier } from "#gen/tollgate/messages/v1/service_tier_pb.js";
import { collectAnswer } from "../http/core/answer.ts";
import type { CoreClients } from "../http/core/core-clients.ts";
import { ofCaller, readModels } from "../http/core/models.ts";
import { jsonEncoder } from "../http/json/encoder.ts";
import type { ReadLabels } from "../http/request/labels.ts";
import { readSession } from "../http/request/session.ts";
import { sendEvents } from "../http/response/sse.ts";
import { createEndpoints } from "../http/routing/endpoints.ts";
import type { Surface } from "../http/routing/surface.ts";
import { errorOf } from "./errors.ts";
import { modelInfo, modelsPage } from "./models.ts";
import { countTokensRequest } from "./request/count-tokens.ts";
import { generateRequest } from "./request/generate.ts";
import { toMessage } from "./response/answer.ts";
import { StreamEncoder } from "./response/stream.ts";

const messageJson = jsonEncoder(MessageSchema);
const countJson = jsonEncoder(CountTokensResponseSchema);
const modelsJson = jsonEncoder(ListModelsResponseSchema);
const modelJson = jsonEncoder(ModelSchema);

/** Endpoints that clients of this style know but this service does not have. */
const unavailable = {
  "/v1/messages/batches": "message-batches API",
  "/v1/files": "files API",
};

/** The messages-style surface over a core. */
export function createMessagesSurface(core: CoreClients, readLabels: ReadLabels): Surface {
  return {
    name: "messages",
    claims: ["/v1/messages"],
    recognizes: ({ headers }) => headers["anthropic-version"] !== undefined || headers["x-api-key"] !== undefined,
    unavailable,
    errorOf,
    endpoints: createEndpoints({
      core,
      routes: messagesServiceRoutes,
      keyHeader: "x-api-key",
      surface: "messages",
      handlers: {
        async createMessage(request, exchange) {
          const { requestId, callOptions } = exchange;
          const session = readSession(exchange.request.headers);
          const labels = readLabels(exchange.request.headers, request.metadata?.userId);
          const stream = core.inference.generate(generateRequest(request, requestId, labels, session), callOptions);
          const tellsTier = request.serviceTier !== ServiceTier.UNSPECIFIED;
          if (request.stream) {
            return sendEvents(exchange, stream, new StreamEncoder(request.model, requestId, tellsTier));
          }
          const answer = await collectAnswer(stream);
          exchange.send(200, messageJson(toMessage(answer, request.model, requestId, tellsTier)));
        },

        async countTokens(request, exchange) {
          const { inputTokens } = await core.inference.countTokens(countTokensRequest(request), exchange.callOptions);
          exchange.send(200, countJson({ $typeName: "tollgate.messages.v1.CountTokensResponse", inputTokens }));
        },

        async listModels(request, exchange) {
          const models = await readModels(core, exchange);
          exchange.send(200, modelsJson(modelsPage(models, request)), ofCaller);
        },

        async getModel({ id }, exchange) {
          const { model } = await core.catalogue.getModel({ model: id }, exchange.callOptions);
          if (model === undefined) {
            throw new Error(`the catalogue answered without the model ${id}`);
          }
          exchange.send(200, modelJson(modelInfo(model)), ofCaller);
        },
      },
    }),
  };
}
