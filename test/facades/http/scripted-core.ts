import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type Transport } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import type { GetKeyStatusResponseSchema } from "#gen/tollgate/accounts/v1/caller_requests_pb.js";
import {
  CatalogueService,
  type GetModelRequest,
  type ListPriceDaysResponseSchema,
} from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import type { ModelSchema } from "#gen/tollgate/catalogue/v1/model_pb.js";
import {
  EmbeddingsService,
  type EmbedRequest,
  type EmbedResponseSchema,
} from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { ErrorDetailSchema, Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import {
  type CountTokensRequest,
  type GenerateRequest,
  type GenerateResponseSchema,
  InferenceService,
} from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import {
  type GetPublicHistoryResponseSchema,
  type GetPublicStatusResponseSchema,
  StatusService,
} from "#gen/tollgate/status/v1/status_service_pb.js";
import { type RateLimitState, writeRateLimit } from "#lib/rpc/rate-limit.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration, type ServiceRegistration } from "#src/wire/grpc/server/registration.ts";

/** What a scripted core does; each part may be replaced by a test. */
export interface Script {
  generate(
    request: GenerateRequest,
    context: HandlerContext,
  ): AsyncIterable<MessageInitShape<typeof GenerateResponseSchema>>;
  embed(request: EmbedRequest): MessageInitShape<typeof EmbedResponseSchema>;
  countTokens(request: CountTokensRequest): { inputTokens: bigint };
  models: MessageInitShape<typeof ModelSchema>[];
  /** The prices of the last days. */
  prices: MessageInitShape<typeof ListPriceDaysResponseSchema>;
  /** The last 90 days. Undefined: the core cannot tell. */
  history?: MessageInitShape<typeof GetPublicHistoryResponseSchema> | undefined;
  /** What is wrong. */
  status: MessageInitShape<typeof GetPublicStatusResponseSchema>;
  /** What the catalogue does before it answers; true: it answers with nothing. */
  lookUp?: (context: HandlerContext) => Promise<boolean>;
  keyStatus: MessageInitShape<typeof GetKeyStatusResponseSchema>;
  /** What is waited for before a caller is told. */
  identify?: () => Promise<void>;
  /** Where the key stands after each call. */
  rateLimit: RateLimitState;
  /** Refuses a call before anything else; also what CountRequest answers with. */
  refuse?: (headers: Headers) => ConnectError | undefined;
}

/** What a scripted core was asked. */
export interface CoreLog {
  readonly generated: GenerateRequest[];
  readonly embedded: EmbedRequest[];
  /** Requests that were counted without being run. */
  counted: number;
  /** Requests whose caller was asked for alone. */
  identified: number;
  readonly headers: Headers[];
}

/** A core for tests of the surfaces: it speaks the contract in this process and does as it is told. */
export function scriptedCore(script: Partial<Script> = {}): {
  transport: Transport;
  /** To be served to a front that stands apart. */
  services: readonly ServiceRegistration[];
  log: CoreLog;
} {
  const told: Script = {
    async *generate() {
      yield { events: answer("Hello") };
    },
    embed: ({ inputs }) => ({ vectors: inputs.map(() => new Uint8Array(8)), inputTokens: BigInt(inputs.length) }),
    countTokens: () => ({ inputTokens: 3n }),
    models: [],
    prices: {},
    status: { ok: true },
    keyStatus: {},
    rateLimit: { limit: 60, remaining: 59, resetAfterMs: 1500 },
    ...script,
  };
  const log: CoreLog = { generated: [], embedded: [], counted: 0, identified: 0, headers: [] };
  const admit = ({ requestHeader, responseHeader }: HandlerContext) => {
    log.headers.push(requestHeader);
    const refusal = told.refuse?.(requestHeader);
    if (refusal !== undefined) {
      throw refusal;
    }
    writeRateLimit(responseHeader, told.rateLimit);
  };
  const services = [
    registration(InferenceService, {
      async *generate(request: GenerateRequest, context: HandlerContext) {
        admit(context);
        log.generated.push(request);
        yield* told.generate(request, context);
      },
      countTokens(request: CountTokensRequest, context: HandlerContext) {
        admit(context);
        return told.countTokens(request);
      },
    }),
    registration(EmbeddingsService, {
      embed(request: EmbedRequest, context: HandlerContext) {
        admit(context);
        log.embedded.push(request);
        return told.embed(request);
      },
    }),
    registration(CatalogueService, {
      async listModels(_request: object, context: HandlerContext) {
        return (await told.lookUp?.(context)) ? {} : { models: told.models };
      },
      listPriceDays: () => told.prices,
      async getModel({ model: id }: GetModelRequest, context: HandlerContext) {
        if (await told.lookUp?.(context)) {
          return {};
        }
        const model = told.models.find((candidate) => candidate.id === id);
        if (model === undefined) {
          throw refused(Reason.MODEL_NOT_FOUND, `There is no model ${id}.`, Code.NotFound);
        }
        return { model };
      },
    }),
    registration(StatusService, {
      getPublicStatus: () => told.status,
      getPublicHistory() {
        if (told.history === undefined) {
          throw new ConnectError("away", Code.Unavailable);
        }
        return told.history;
      },
    }),
    registration(AccountsService, {
      getKeyStatus(_request: object, context: HandlerContext) {
        admit(context);
        return told.keyStatus;
      },
      async identifyCaller(_request: object, context: HandlerContext) {
        admit(context);
        log.identified++;
        await told.identify?.();
        return { accountId: context.requestHeader.get("authorization") ?? "" };
      },
    }),
    registration(MeteringService, {
      countRequest(_request: object, context: HandlerContext) {
        admit(context);
        log.counted++;
        return {};
      },
    }),
  ];
  return { transport: createDirectTransport(services, []), services, log };
}

/** An error as the core's services throw it. */
export function refused(
  reason: Reason,
  message: string,
  code = Code.InvalidArgument,
  facts: Omit<MessageInitShape<typeof ErrorDetailSchema>, "reason" | "$typeName"> = {},
): ConnectError {
  return new ConnectError(message, code, undefined, [{ desc: ErrorDetailSchema, value: { ...facts, reason } }]);
}

type EventInit = Exclude<MessageInitShape<typeof GenerateResponseSchema>["events"], undefined>[number];

/** The events of a plain answer of one text. */
export function answer(text: string): EventInit[] {
  return [started(), { event: { case: "text", value: text } }, finished()];
}

/** The first event of every answer. */
export function started(): EventInit {
  return { event: { case: "started", value: { requestId: "req_1", inputTokens: 7n } } };
}

/** The last event of every answer: reason stop, 7 tokens in, 5 out of which 2 were thinking. */
export function finished(reason = 1): EventInit {
  const usage = { inputTokens: 7n, outputTokens: 5n, reasoningTokens: 2n };
  return { event: { case: "finished", value: { reason, usage } } };
}

export type { EventInit, GenerationEvent };
