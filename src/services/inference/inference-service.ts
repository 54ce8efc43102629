import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type {
  CountTokensRequest,
  GenerateRequest,
  InferenceService,
} from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { WholeAnswer } from "#lib/rpc/whole-answer.ts";
import { estimateTokens } from "#lib/text/estimate-tokens.ts";
import { hangUpKey } from "#src/wire/grpc/hang-up.ts";
import { onlyMessage } from "#src/wire/grpc/messages/request-messages.ts";
import { readCaller } from "#src/wire/interceptors/access/principal.ts";
import { serverKey } from "#src/wire/interceptors/observation/observe.ts";
import { nameRequest } from "#src/wire/interceptors/request-id.ts";
import { readSurface } from "#src/wire/interceptors/surface.ts";
import { batch } from "./answer/batch.ts";
import { generation } from "./answer/generation.ts";
import { ReadAhead } from "./answer/read-ahead.ts";
import type { Dependencies } from "./dependencies.ts";
import { plan } from "./request/plan.ts";
import { requireSize } from "./request/require-size.ts";
import { validateConversation } from "./request/validate.ts";

/**
 * Serves generation models. Checks the model, then the balance, then asks an engine; streams the answer and settles.
 */
export function createInferenceService(deps: Dependencies): ServiceImpl<typeof InferenceService> {
  return {
    generate(request: GenerateRequest, context: HandlerContext) {
      const caller = readCaller(context);
      const start = async (signal: AbortSignal, stop: () => void) => {
        const observer = deps.observer.received();
        requireSize(request);
        const { clock } = deps.readers;
        const received = {
          receivedAt: clock.monotonic(),
          surface: readSurface(context.requestHeader),
          asked: (server: string) => void context.values.set(serverKey, server),
        };
        const requestId = nameRequest(request.requestId, deps.random, context.values);
        const model = deps.catalogue.ofKind(request.model, "generation", caller.models);
        const planned = await plan(request, requestId, model, caller, deps, { signal, values: context.values });
        const parts = { ...deps, observer, clock };
        const answers = planned.generations.map((one) => generation(one, received, parts, signal));
        const [first] = answers;
        return answers.length === 1 && first !== undefined ? first : batch(answers, stop, planned.settled);
      };
      if (request.gathered && request.prompt.case !== "texts") {
        return new WholeAnswer(async () => onlyMessage(await start(context.signal, () => {})));
      }
      return new ReadAhead(start, {
        ...deps.readers,
        accountId: caller.accountId,
        signal: context.signal,
        hangUp: context.values.get(hangUpKey),
      });
    },

    async countTokens({ model, conversation }: CountTokensRequest, context: HandlerContext) {
      const caller = readCaller(context);
      if (conversation === undefined) {
        throw new Error("a request without a conversation passed the validation");
      }
      validateConversation(conversation);
      deps.catalogue.ofKind(model, "generation", caller.models);
      return { inputTokens: BigInt(estimateTokens({ case: "conversation", value: conversation })) };
    },
  };
}
