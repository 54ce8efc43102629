import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ConnectError, createContextValues } from "@connectrpc/connect";
import type { Door } from "#lib/door/door.ts";
import { noteCounted } from "#lib/door/paced-response.ts";
import type { Logger } from "#lib/logger.ts";
import { readBody } from "#src/wire/grpc/server/http/request-body.ts";
import { Receiving } from "#src/wire/grpc/server/receiving.ts";
import type { Events } from "./events.ts";
import { type Provider, unknownShape } from "./provider.ts";

/** The path that Stripe sends its events to. */
export const stripePath = "/webhooks/stripe";

const maxBytes = 1_000_000;
/** Limits on events being received. Stripe sends an event within a second. */
const receivingLimits = {
  totalBytes: 32 * 1024 * 1024,
  payerBytes: 32 * 1024 * 1024,
  reservedBytes: 8 * 1024 * 1024,
  timeoutMs: 10_000,
};

/**
 * The outcome of an event. credited: the money is credited. withdrawn: the money is taken out. ignored: the event moves no
 * money here. refused: no retry can credit it, so a person has to. postponed: Stripe is asked to send it again. unsigned:
 * its signature is wrong.
 */
export const webhookOutcomes = ["credited", "withdrawn", "ignored", "refused", "postponed", "unsigned"] as const;

/** Called with the outcome of every event. */
export type WebhookObserver = (outcome: (typeof webhookOutcomes)[number]) => void;

export interface Dependencies {
  /** As Provider.readEvent. */
  readonly readEvent: Provider["readEvent"];
  readonly events: Pick<Events, "handle">;
  readonly observe: WebhookObserver;
  readonly logger: Logger;
  /** Bounds the events being received: anybody can send some, and the signature is checked last. */
  readonly receiving?: Receiving;
}

type Answer = [status: number, text: string];

/** Serves events that come through a door. */
export type PaymentWebhook = (door: Door) => RequestListener;

/**
 * Takes Stripe's signed events. Stripe sends an event again for days unless the answer is 2xx. So 2xx also answers events
 * that no retry can change, with an alarm in the log; 503 asks for a retry.
 */
export function createStripeWebhook(deps: Dependencies): PaymentWebhook {
  const { readEvent, events, observe, logger, receiving = new Receiving(receivingLimits) } = deps;

  async function judge(body: Buffer, signature: string): Promise<Answer> {
    const event = readEvent(body, signature);
    if (event === undefined) {
      observe("unsigned");
      return [400, "the signature does not fit"];
    }
    if (event.ignored === unknownShape) {
      logger.warn({ event: event.id, type: event.type }, "a signed payment event has a shape that is not known here");
    }
    const { outcome, detail, namesAccount } = await events.handle(event);
    // Other services may use the same account at Stripe: what names no account of ours is no alarm.
    const isIgnored = outcome === "ignored" || (outcome === "unmatched" && !namesAccount);
    if (isIgnored) {
      observe("ignored");
      return [200, `ignored: ${detail}`];
    }
    if (outcome === "postponed") {
      observe("postponed");
      return [503, "try again"];
    }
    if (outcome === "refused" || outcome === "unmatched") {
      observe("refused");
      logger.error(
        { event: event.id, reason: detail },
        "a payment could not be credited: refund it or credit it by hand",
      );
      return [200, `refused: ${detail}`];
    }
    observe(outcome);
    return [200, outcome];
  }

  async function serve(request: IncomingMessage, response: ServerResponse, door: Door): Promise<void> {
    const answer = (status: number, text: string) => void response.writeHead(status).end(`${text}\n`);
    if (request.method !== "POST") {
      return answer(405, "POST only");
    }
    const signature = request.headers["stripe-signature"];
    if (typeof signature !== "string") {
      observe("unsigned");
      response.setHeader("connection", "close");
      return answer(400, "the signature is missing");
    }
    const body = await readEventBody(request, receiving, door);
    if (!Array.isArray(body)) {
      const judged = await judge(body, signature).catch((error: unknown): Answer => {
        observe("postponed");
        logger.warn({ err: error }, "a payment has to be sent again");
        return [503, "try again"];
      });
      if (judged[0] !== 400) {
        noteCounted(response); // the signature is a credential
      }
      return answer(...judged);
    }
    response.setHeader("connection", "close");
    answer(...body);
  }

  return (door) => (request, response) => {
    serve(request, response, door).catch(() => response.destroy()); // the client has gone
  };
}

/** The body of an event, or the answer to an event that is too large, too slow or one too many. */
async function readEventBody(request: IncomingMessage, receiving: Receiving, door: Door): Promise<Buffer | Answer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of readBody(request, createContextValues(), receiving, door)) {
      size += chunk.length;
      if (size > maxBytes) {
        return [413, "too large"];
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, size);
  } catch (error) {
    if (error instanceof ConnectError) {
      return [503, "try again"];
    }
    throw error;
  }
}
