import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import Stripe from "stripe";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { detailOf } from "../../lib/errors/detail.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { type Payment, readStripeEvent } from "./stripe-payment.ts";

/** Where Stripe sends its events. */
export const stripePath = "/webhooks/stripe";

const MOST_BYTES = 1_000_000;
/** How old a signature may be. */
const MOST_AGE_S = 300;

/**
 * What can become of an event: the money is there; it moves none here; no retry can credit it, so a person has
 * to; Stripe is asked to send it again; or its signature is wrong.
 */
export const webhookOutcomes = ["credited", "ignored", "refused", "postponed", "unsigned"] as const;

/** Is told what became of every event. */
export type WebhookObserver = (outcome: (typeof webhookOutcomes)[number]) => void;

/** What a webhook is made of. */
export interface StripeWebhookParts {
  /** The endpoint's signing secret, `whsec_…`. */
  readonly secret: string;
  /** Credits a payment; the same reference again credits nothing. Throws as Accounts.TopUp does. */
  readonly topUp: (payment: Payment) => Promise<void>;
  readonly observe: WebhookObserver;
  /** Judges the age of signatures. */
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/**
 * Turns Stripe's signed events into top-ups. Stripe sends an event again for days unless the answer is 2xx, so
 * that is also the answer to what no retry can change, with an alarm in the log; 503 asks for a retry.
 */
export function createStripeWebhook({ secret, topUp, observe, clock, logger }: StripeWebhookParts): RequestListener {
  function refuse(reason: string, message: string): [status: number, text: string] {
    observe("refused");
    logger.error({ reason }, "a payment could not be credited: refund it or credit it by hand");
    return [200, `refused: ${message}`];
  }

  async function judge(body: Buffer, signature: string): Promise<[status: number, text: string]> {
    let event: Stripe.Event;
    try {
      event = Stripe.webhooks.constructEvent(body, signature, secret, MOST_AGE_S, undefined, clock.now());
    } catch {
      observe("unsigned");
      return [400, "the signature does not fit"];
    }
    const outcome = readStripeEvent(event);
    if ("ignored" in outcome) {
      observe("ignored");
      return [200, `ignored: ${outcome.ignored}`];
    }
    if ("refused" in outcome) return refuse(outcome.refused, outcome.refused);
    try {
      await topUp(outcome.payment);
      observe("credited");
      logger.info({ reference: outcome.payment.reference, account: outcome.payment.accountId }, "payment credited");
      return [200, "credited"];
    } catch (error) {
      const { code, rawMessage } = ConnectError.from(error);
      const reason = detailOf(error)?.reason;
      // The limit on a day's payments lets this one pass later.
      if (reason === undefined || reason === Reason.PAYMENT_24H_LIMIT || code === Code.Unavailable) {
        observe("postponed");
        logger.warn({ err: error, reference: outcome.payment.reference }, "a payment has to be sent again");
        return [503, "try again"];
      }
      return refuse(`${outcome.payment.reference}: ${rawMessage}`, rawMessage);
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, text: string) => void response.writeHead(status).end(`${text}\n`);
    if (request.method !== "POST") return answer(405, "POST only");
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MOST_BYTES) {
        response.setHeader("connection", "close");
        return answer(413, "too large");
      }
      chunks.push(chunk);
    }
    answer(...(await judge(Buffer.concat(chunks), String(request.headers["stripe-signature"] ?? ""))));
  }

  return (request, response) => {
    serve(request, response).catch(() => response.destroy()); // the client has gone
  };
}
