/** An error as Stripe answers it. */
export class StripeError extends Error {
  readonly status: number;
  readonly body: object;

  constructor(status: number, type: string, message: string, more: object = {}) {
    super(message);
    this.status = status;
    this.body = { error: { type, message, ...more } };
  }
}

export function invalid(message: string, param?: string): StripeError {
  return new StripeError(400, "invalid_request_error", message, param === undefined ? {} : { param });
}

export function missing(id: string): StripeError {
  return new StripeError(404, "invalid_request_error", `No such object: '${id}'`, { code: "resource_missing" });
}

export function declined(paymentIntent: object): StripeError {
  return new StripeError(402, "card_error", "Your card was declined.", {
    code: "card_declined",
    decline_code: "generic_decline",
    payment_intent: paymentIntent,
  });
}
