import { ListPricesResponseSchema } from "#gen/tollgate/chat/v1/account_prices_pb.js";
import {
  GetCreditsResponseSchema,
  GetGenerationResponseSchema,
  GetKeyResponseSchema,
  GetUsageResponseSchema,
} from "#gen/tollgate/chat/v1/account_view_pb.js";
import { ChatCompletionSchema } from "#gen/tollgate/chat/v1/chat_completion_answer_pb.js";
import { chatServiceRoutes } from "#gen/tollgate/chat/v1/chat_service_http.js";
import { CompletionSchema } from "#gen/tollgate/chat/v1/completion_pb.js";
import { GetCostsResponseSchema } from "#gen/tollgate/chat/v1/cost_pb.js";
import { CreateEmbeddingResponseSchema } from "#gen/tollgate/chat/v1/embedding_pb.js";
import { TestAuthResponseSchema } from "#gen/tollgate/chat/v1/key_status_pb.js";
import { ListModelsResponseSchema, ModelSchema } from "#gen/tollgate/chat/v1/model_pb.js";
import { ListMonthsResponseSchema } from "#gen/tollgate/chat/v1/month_pb.js";
import { ListSealsResponseSchema } from "#gen/tollgate/chat/v1/seal_pb.js";
import { ServiceTier } from "#gen/tollgate/chat/v1/service_tier_pb.js";
import { collectAnswer, collectAnswers } from "../http/core/answer.ts";
import type { CoreClients } from "../http/core/core-clients.ts";
import { ofCaller, readModels } from "../http/core/models.ts";
import { toCosts } from "../http/feeds/costs.ts";
import { checkSchemaVersion, writeProviderDocument } from "../http/feeds/provider-document.ts";
import { jsonEncoder } from "../http/json/encoder.ts";
import type { ReadLabels } from "../http/request/labels.ts";
import { readSession } from "../http/request/session.ts";
import { sendLines } from "../http/response/json-lines.ts";
import { sendEvents } from "../http/response/sse.ts";
import { createEndpoints } from "../http/routing/endpoints.ts";
import type { Endpoint, Surface } from "../http/routing/surface.ts";
import { keyStatus } from "./account/key-status.ts";
import { createKeyEndpoints } from "./account/managed-keys.ts";
import { priceList } from "./account/prices.ts";
import { sealList } from "./account/seals.ts";
import { readUsage } from "./account/usage.ts";
import { readCredits, readGeneration, readKey, readMonths, readStatement } from "./account/view.ts";
import { completion, completionStream, continueRequest, promptCount } from "./completions.ts";
import { embeddingResponse, embedRequest } from "./embeddings.ts";
import { errorOf } from "./errors.ts";
import { modelInfo, modelList } from "./models.ts";
import { generateRequest } from "./request/generate.ts";
import { chatCompletion } from "./response/answer.ts";
import { createHead } from "./response/head.ts";
import { chatStream } from "./response/stream.ts";

const writeChatCompletion = jsonEncoder(ChatCompletionSchema);
const writeCompletion = jsonEncoder(CompletionSchema);
const writeEmbeddings = jsonEncoder(CreateEmbeddingResponseSchema);
const writeModels = jsonEncoder(ListModelsResponseSchema);
const writeModel = jsonEncoder(ModelSchema);
const writeKey = jsonEncoder(GetKeyResponseSchema);
const writeCredits = jsonEncoder(GetCreditsResponseSchema);
const writeGeneration = jsonEncoder(GetGenerationResponseSchema);
const writeUsage = jsonEncoder(GetUsageResponseSchema);
const writePrices = jsonEncoder(ListPricesResponseSchema);
const writeMonths = jsonEncoder(ListMonthsResponseSchema);
const writeSeals = jsonEncoder(ListSealsResponseSchema);
const writeCosts = jsonEncoder(GetCostsResponseSchema);
const writeKeyStatus = jsonEncoder(TestAuthResponseSchema);

/** Endpoints that clients of this style know but this service does not have. */
const unavailable = {
  "/v1/responses": "responses API",
  "/v1/images": "images API",
  "/v1/audio": "audio API (speech and transcription)",
  "/v1/assistants": "assistants API",
  "/v1/threads": "assistants API",
  "/v1/vector_stores": "assistants API",
  "/v1/fine_tuning": "fine-tuning API",
  "/v1/batches": "batches API",
  "/v1/files": "files API",
  "/v1/uploads": "files API",
  "/v1/moderations": "moderations API",
  "/v1/realtime": "realtime API",
};

/** The chat-completions-style surface over a core. */
export function createChatSurface(core: CoreClients, readLabels: ReadLabels): Surface {
  return {
    name: "chat",
    claims: [
      ...["/v1/chat", "/v1/completions", "/v1/embeddings", "/test-auth", "/api/v1"],
      ...[
        "/v1/key",
        "/v1/keys",
        "/v1/credits",
        "/v1/generation",
        "/v1/usage",
        "/v1/costs",
        "/v1/prices",
        "/v1/seals",
        "/v1/statement",
        "/v1/months",
      ],
    ],
    recognizes: () => true, // the default: its clients send nothing distinctive
    unavailable: { ...unavailable, ...Object.fromEntries(Object.entries(unavailable).map(toAlias)) },
    errorOf,
    endpoints: withAliases([
      ...createKeyEndpoints(core),
      ...createEndpoints({
        core,
        routes: chatServiceRoutes,
        keyHeader: "authorization",
        surface: "chat",
        handlers: {
          async createChatCompletion(request, exchange) {
            const session = readSession(exchange.request.headers, request.promptCacheKey);
            const labels = readLabels(exchange.request.headers, request.user);
            const generation = generateRequest(request, exchange.requestId, labels, session);
            const answer = core.inference.generate(generation, exchange.callOptions);
            const head = createHead(exchange, "chatcmpl-", request.model);
            const hideReasoning = request.reasoning?.exclude ?? request.includeReasoning === false;
            const withLots = request.usage?.include ?? false;
            const tellsTier = request.serviceTier !== ServiceTier.UNSPECIFIED;
            const options = { hideReasoning, withLots, tellsTier };
            if (request.stream) {
              const separateUsage = request.streamOptions?.includeUsage ?? false;
              return await sendEvents(exchange, answer, chatStream(head, { separateUsage, ...options }));
            }
            const collected = await collectAnswer(answer);
            exchange.send(200, writeChatCompletion(chatCompletion(head, collected, options)));
          },

          async createCompletion(request, exchange) {
            const session = readSession(exchange.request.headers, request.promptCacheKey);
            const labels = readLabels(exchange.request.headers, request.user);
            const generation = continueRequest(request, exchange.requestId, labels, session);
            const answer = core.inference.generate(generation, exchange.callOptions);
            const head = createHead(exchange, "cmpl-", request.model);
            const answers = promptCount(request);
            const withLots = request.usage?.include ?? false;
            if (request.stream) {
              const separateUsage = request.streamOptions?.includeUsage ?? false;
              return await sendEvents(
                exchange,
                answer,
                completionStream(head, { separateUsage, answers, withLots }),
                answers,
              );
            }
            const collected = await collectAnswers(answer, answers);
            exchange.send(200, writeCompletion(completion(head, collected, withLots)));
          },

          async createEmbedding(request, exchange) {
            const labels = readLabels(exchange.request.headers, request.user);
            const response = await core.embeddings.embed(
              embedRequest(request, exchange.requestId, labels),
              exchange.callOptions,
            );
            exchange.send(200, writeEmbeddings(embeddingResponse(request, response)));
          },

          async listModels({ schemaVersion }, exchange) {
            checkSchemaVersion(schemaVersion);
            const models = await readModels(core, exchange);
            exchange.send(
              200,
              schemaVersion === undefined ? writeModels(modelList(models)) : writeProviderDocument(models),
              ofCaller,
            );
          },

          async getModel({ id }, exchange) {
            const { model } = await core.catalogue.getModel({ model: id }, exchange.callOptions);
            if (model === undefined) {
              throw new Error(`the catalogue answered without the model ${id}`);
            }
            exchange.send(200, writeModel(modelInfo(model)), ofCaller);
          },

          async getKey(_request, exchange) {
            exchange.send(200, writeKey(await readKey(core, exchange)));
          },

          async getCredits(_request, exchange) {
            exchange.send(200, writeCredits(await readCredits(core, exchange)));
          },

          async getGeneration({ id }, exchange) {
            exchange.send(200, writeGeneration(await readGeneration(core, exchange, id)));
          },

          async getCosts({ requestIds }, exchange) {
            const { costs } = await core.metering.listCosts({ requestIds }, exchange.callOptions);
            exchange.send(200, writeCosts(toCosts(costs)));
          },

          async getUsage(request, exchange) {
            exchange.send(200, writeUsage(await readUsage(core, exchange, request)));
          },

          async listPrices(_request, exchange) {
            const { prices } = await core.accounts.getAccountPrices({}, exchange.callOptions);
            exchange.send(200, writePrices(priceList(prices)));
          },

          async listSeals({ after }, exchange) {
            const { seals } = await core.metering.listSeals({ after }, exchange.callOptions);
            exchange.send(200, writeSeals(sealList(seals)));
          },

          async listMonths({ month }, exchange) {
            exchange.send(200, writeMonths(await readMonths(core, exchange, month)));
          },

          async getStatement(request, exchange) {
            await sendLines(exchange, readStatement(core, exchange, request));
          },

          async testAuth(_request, exchange) {
            const status = await core.accounts.getKeyStatus({}, exchange.callOptions);
            exchange.send(200, writeKeyStatus(keyStatus(status)));
          },
        },
      }),
    ]),
  };
}

/** The address of a path below /api, where clients of aggregators look for it. */
const aliasOf = (path: string) => `/api${path}`;

/** Adds the same paths below /api. */
function withAliases(endpoints: readonly Endpoint[]): Endpoint[] {
  const below = endpoints.filter(({ path }) => path.startsWith("/v1/"));
  return [...endpoints, ...below.map((endpoint) => ({ ...endpoint, path: aliasOf(endpoint.path) }))];
}

function toAlias([path, feature]: readonly [string, string]): [string, string] {
  return [aliasOf(path), feature];
}
