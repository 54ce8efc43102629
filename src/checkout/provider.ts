/** A payment that a person is asked for on the provider's page. */
export interface CheckoutOrder {
  /** Makes the same order again the same session, however often it is sent. */
  readonly id: string;
  readonly accountId: string;
  readonly customer: string;
  /** In pico-USD, whole cents, without taxes. */
  readonly amount: number;
  /** Where the person comes back to after paying, and after turning back. */
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** A charge of the saved card. */
export interface ChargeOrder {
  /** Makes the same order again the same charge, however often it is sent. */
  readonly id: string;
  readonly accountId: string;
  readonly customer: string;
  /** In pico-USD, whole cents. */
  readonly amount: number;
}

/** Money to pay back. */
export interface RefundOrder {
  /** Makes the same order again the same refund, however often it is sent. */
  readonly id: string;
  readonly accountId: string;
  /** The payment at the provider. */
  readonly reference: string;
  /** In pico-USD, whole cents, with the taxes on it. */
  readonly amount: number;
}

/**
 * A payment as the provider tells when it is asked. Amounts are in pico-USD. paid: the provider has the money. closed:
 * it will never have it.
 */
export interface Found {
  readonly state: "open" | "paid" | "closed";
  /** The payment at the provider. Undefined: there is none yet. */
  readonly reference: string | undefined;
  /** The account that it names. Undefined: none. */
  readonly accountId: string | undefined;
  /** The order of this service that made it. Undefined: it was made elsewhere. */
  readonly order: string | undefined;
  /** The currency in lower-case letters. */
  readonly currency: string;
  /** What it is worth as credit: without taxes. Undefined: the provider names no amount. */
  readonly credit: number | undefined;
  /** What the person pays, taxes included. */
  readonly charged: number | undefined;
}

/** The result of charging a saved card. declined: the card was not charged, and will not be by this order. */
export type Charged = { readonly reference: string } | { readonly declined: string };

/** Money that goes back to who paid, as the provider tells it. */
export interface Returned {
  readonly id: string;
  readonly kind: "refund" | "dispute";
  /** The order of this service that made it. Undefined: it was made elsewhere. */
  readonly order: string | undefined;
  /** In pico-USD, with the taxes on it. */
  readonly amount: number;
  /** gone: the person has the money, or will. back: the money came back, or never went. */
  readonly state: "gone" | "back";
}

/** An invoice of the provider. */
export interface Invoice {
  readonly number: string;
  readonly at: Date;
  /** In pico-USD, taxes included. */
  readonly total: number;
  readonly url: string;
  readonly pdfUrl: string;
  readonly status: string;
}

/** Why an event moves no money that is signed, and not what the provider's documents describe. */
export const unknownShape = "its shape is not known here";

/** What a provider tells by itself, once its signature is checked. Nothing in it is believed but what it is about. */
export interface ProviderEvent {
  readonly id: string;
  readonly type: string;
  /** The session or the payment that it is about. Undefined: it moves no money here. */
  readonly about: { readonly session: string } | { readonly payment: string } | undefined;
  /** Why it moves no money here, for the log. */
  readonly ignored: string;
  /** What it claims, for providers that cannot be asked. Undefined: nothing. */
  readonly claim: Found | undefined;
}

/** The order was understood and refused: sending it again changes nothing. */
export class RefusedByProvider extends Error {}

/** The provider knows no such customer any more: it was deleted there, or was made in another mode or at a stand-in. */
export class UnknownCustomer extends RefusedByProvider {}

/**
 * A payment provider, by its five verbs. A call that fails otherwise than by RefusedByProvider may have had its effect:
 * the same order sent again finds out.
 */
export interface Provider {
  readonly checkout: {
    /** Makes the provider's customer for an account; the same one again. `gone`: another one instead of this. */
    customer(accountId: string, gone?: string): Promise<string>;
    open(order: CheckoutOrder): Promise<{ readonly session: string; readonly url: string }>;
    read(session: string): Promise<Found>;
  };
  readonly charge: {
    /**
     * `mayCharge` is asked at the last moment, unless an earlier try has made the charge. Undefined: the card may not be
     * charged, and was not.
     */
    make(order: ChargeOrder, mayCharge: () => Promise<boolean>): Promise<Charged | undefined>;
    read(reference: string): Promise<Found>;
  };
  readonly refund: {
    make(order: RefundOrder): Promise<Returned>;
    /** Everything that went back of a payment, disputes included. */
    list(reference: string): Promise<readonly Returned[]>;
  };
  readonly portal: {
    open(customer: string, returnUrl: string): Promise<string>;
    /** Newest first, at most 100. */
    invoices(customer: string): Promise<readonly Invoice[]>;
  };
  /** Reads an event. Undefined: its signature does not fit. */
  readEvent(body: Buffer, signature: string): ProviderEvent | undefined;
}
