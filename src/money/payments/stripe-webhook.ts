import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type Stripe from "stripe";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Door } from "#lib/door/door.ts";
import { readDetail } from "#lib/errors/detail.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { readBody } from "#src/wire/grpc/server/http/request-body.ts";
import { Receiving } from "#src/wire/grpc/server/receiving.ts";
import { type Payment, readStripeEvent } from "./stripe-payment.ts";
import { isSignedByStripe } from "./stripe-signature.ts";

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
 * The outcome of an event. credited: the money is credited. ignored: the event moves no money here. refused: no retry
 * can credit it, so a person has to. postponed: Stripe is asked to send it again. unsigned: its signature is wrong.
 */
export const webhookOutcomes = ["credited", "ignored", "refused", "postponed", "unsigned"] as const;

/** Called with the outcome of every event. */
export type WebhookObserver = (outcome: (typeof webhookOutcomes)[number]) => void;

interface Dependencies {
  /** The endpoint's signing secret, `whsec_…`. */
  readonly secret: string;
  /** Credits a payment; the same reference again credits nothing. Throws as Accounts.TopUp does. */
  readonly topUp: (payment: Payment) => Promise<void>;
  readonly observe: WebhookObserver;
  /** Judges the age of signatures. */
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
  /** Bounds the events being received: anybody can send some, and the signature is checked last. */
  readonly receiving?: Receiving;
}

/** Serves events that come through a door. */
export type PaymentWebhook = (door: Door) => RequestListener;

/**
 * Turns Stripe's signed events into top-ups. Stripe sends an event again for days unless the answer is 2xx. So 2xx also
 * answers events that no retry can change, with an alarm in the log; 503 asks for a retry.
 */
export function createStripeWebhook(parts: Dependencies): PaymentWebhook {
  const { secret, topUp, observe, clock, logger, receiving = new Receiving(receivingLimits) } = parts;

  function refuse(reason: string, message: string): [status: number, text: string] {
    observe("refused");
    logger.error({ reason }, "a payment could not be credited: refund it or credit it by hand");
    return [200, `refused: ${message}`];
  }

  async function judge(body: Buffer, signature: string): Promise<[status: number, text: string]> {
    const event = isSignedByStripe(body, signature, secret, clock.now()) ? parseEvent(body) : undefined;
    if (event === undefined) {
      observe("unsigned");
      return [400, "the signature does not fit"];
    }
    const outcome = readStripeEvent(event);
    if ("ignored" in outcome) {
      observe("ignored");
      return [200, `ignored: ${outcome.ignored}`];
    }
    if ("refused" in outcome) {
      return refuse(outcome.refused, outcome.refused);
    }
    try {
      await topUp(outcome.payment);
      observe("credited");
      logger.info({ reference: outcome.payment.reference, account: outcome.payment.accountId }, "payment credited");
      return [200, "credited"];
    } catch (error) {
      const { code, rawMessage } = ConnectError.from(error);
      const reason = readDetail(error)?.reason;
      // This one passes later: only the limit on a day's payments is in its way.
      if (reason === undefined || reason === Reason.PAYMENT_24H_LIMIT || code === Code.Unavailable) {
        observe("postponed");
        logger.warn({ err: error, reference: outcome.payment.reference }, "a payment has to be sent again");
        return [503, "try again"];
      }
      return refuse(`${outcome.payment.reference}: ${rawMessage}`, rawMessage);
    }
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
    const body = await readEvent(request, receiving, door);
    if (!Array.isArray(body)) {
      return answer(...(await judge(body, signature)));
    }
    response.setHeader("connection", "close");
    answer(...body);
  }

  return (door) => (request, response) => {
    serve(request, response, door).catch(() => response.destroy()); // the client has gone
  };
}

/** The body of an event, or the answer to an event that is too large, too slow or one too many. */
async function readEvent(
  request: IncomingMessage,
  receiving: Receiving,
  door: Door,
): Promise<Buffer | [status: number, text: string]> {
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

function parseEvent(body: Buffer): Stripe.Event | undefined {
  try {
    return JSON.parse(body.toString()) as Stripe.Event;
  } catch {
    return undefined;
  }
}
