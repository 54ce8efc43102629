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

/** There is nothing of this id. A customer, whom other requests name, is called so. */
export function missing(id: string): StripeError {
  const [what, param] = id.startsWith("cus_") ? ["customer", "customer"] : ["object", "id"];
  return new StripeError(404, "invalid_request_error", `No such ${what}: '${id}'`, { code: "resource_missing", param });
}

export function declined(paymentIntent: object): StripeError {
  return new StripeError(402, "card_error", "Your card was declined.", {
    code: "card_declined",
    decline_code: "generic_decline",
    payment_intent: paymentIntent,
  });
}
