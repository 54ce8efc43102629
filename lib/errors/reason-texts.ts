import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";

/** A reason in words for people. */
export interface ReasonText {
  readonly what: string;
  readonly advice: string;
}

const text = (what: string, advice: string): ReasonText => ({ what, advice });
const management = "Look at the message of the call: a command, the console or an internal service made it.";

/** What each reason means and what to do about it: in answers, in the console and in the documentation. */
export const reasonTexts: Readonly<Record<Reason, ReasonText>> = {
  [Reason.UNSPECIFIED]: text(
    "A fault of the service.",
    "Send it again. The operator finds it in the log under the request's id.",
  ),
  [Reason.INVALID_ARGUMENT]: text(
    "The request's body or a field of it is wrong.",
    "Mend the field that the answer named, and send it again.",
  ),
  [Reason.UNSUPPORTED]: text(
    "The request asked for something that this service does not have.",
    "Leave the field that the answer named out, or call another path.",
  ),
  [Reason.UNAUTHENTICATED]: text(
    "The key is missing, mistyped, disabled, revoked or expired.",
    "Look for its last four characters among the account's keys: enable a disabled one, else make a new one.",
  ),
  [Reason.PERMISSION_DENIED]: text(
    "The key may not do this.",
    "Use a key that may: one that only manages its account runs no requests, and what operators do needs their token.",
  ),
  [Reason.AUTHENTICATION_THROTTLED]: text(
    "Too many wrong keys came from this address.",
    "Wait a minute. Behind a load balancer all clients may have one address: name it in trusted_proxies.",
  ),
  [Reason.MODEL_NOT_FOUND]: text(
    "No such model is served.",
    "Take a name from the list of models; a key with a list of its own sees those alone.",
  ),
  [Reason.MODEL_KIND_MISMATCH]: text(
    "The model is of the other kind.",
    "Ask an embedding model for embeddings, and any other for answers.",
  ),
  [Reason.CONTEXT_LENGTH_EXCEEDED]: text(
    "The prompt, or the prompt and the requested output, are longer than the model's context.",
    "Shorten the conversation, ask for fewer tokens, or take a model with a longer context.",
  ),
  [Reason.INPUT_TOO_LONG]: text(
    "An input is longer than the embedding model accepts.",
    "Cut the input into shorter ones.",
  ),
  [Reason.RATE_LIMITED]: text(
    "A limit of requests or tokens a minute, or of requests at once, is reached.",
    "Wait as retry-after says, or have the limit of the key raised.",
  ),
  [Reason.FREE_TIER_LIMITED]: text(
    "The free tier's requests of this minute are used up.",
    "Wait a minute, or top the account up.",
  ),
  [Reason.BALANCE_EXHAUSTED]: text("The balance is spent, or does not pay for the prompt.", "Top the account up."),
  [Reason.BALANCE_HELD]: text(
    "The account's own running requests hold the rest of its balance.",
    "Wait until one ends, ask for fewer tokens with max_tokens, or top the account up.",
  ),
  [Reason.DUPLICATE_REQUEST]: text(
    "A request with this id was charged already.",
    "Give each request an id of its own; the receipt of the first has what it cost.",
  ),
  [Reason.OVERLOADED]: text(
    "Every server of the model is busy.",
    "Send it again as retry-after says. The operator sees in the list of servers how many run at once.",
  ),
  [Reason.ENGINE_FAILED]: text(
    "The inference server failed.",
    "Send it again. The operator finds why in the log under the request's id.",
  ),
  [Reason.TIMEOUT]: text(
    "It took too long: to the first output, between two, as a whole, or to send the body.",
    "Send it again, with fewer tokens or over a faster line. The operator looks whether the server is stuck.",
  ),
  [Reason.LEDGER_UNAVAILABLE]: text(
    "The ledger took no requests at that moment.",
    "Send it again as retry-after says. The operator looks at the database.",
  ),
  [Reason.ACCOUNT_NOT_FOUND]: text("There is no such account.", management),
  [Reason.KEY_NOT_FOUND]: text("There is no such key.", management),
  [Reason.KEY_LIMIT_REACHED]: text(
    "The account has as many keys as it may have.",
    "Revoke a key that is not used, or have the bound raised.",
  ),
  [Reason.PAYMENT_BELOW_MINIMUM]: text("The payment is below the minimum.", "Pay more at once."),
  [Reason.PAYMENT_ABOVE_MAXIMUM]: text("The payment is above the maximum.", "Pay less at once."),
  [Reason.PAYMENT_24H_LIMIT]: text(
    "The payment would exceed what may be paid within 24 hours.",
    "Pay the rest tomorrow.",
  ),
  [Reason.PAYMENT_REFERENCE_CONFLICT]: text(
    "The payment's reference was used with another amount, account or kind.",
    "Give each payment a reference of its own.",
  ),
  [Reason.REFUND_EXCEEDS_BALANCE]: text(
    "The refund is larger than the unspent paid money.",
    "Refund at most what is left.",
  ),
  [Reason.RECEIPT_NOT_FOUND]: text(
    "There is no receipt and no record of this request.",
    "Compare the id with the x-request-id of the response; refusals are recorded for some days.",
  ),
  [Reason.SERVER_NOT_FOUND]: text("There is no such inference server.", management),
  [Reason.SHUTTING_DOWN]: text("This process was shutting down.", "Send it again: another one takes it."),
  [Reason.KEY_STATE_CONFLICT]: text("The key is being rotated already, or cannot be any more.", management),
  [Reason.REQUEST_TOO_LARGE]: text("The request is larger than the service accepts.", "Send less at once."),
  [Reason.KEY_ALREADY_MADE]: text(
    "An earlier request with this id made a key, whose secret cannot be shown again.",
    "Revoke that key and make another one with a new id.",
  ),
  [Reason.OPERATOR_NOT_FOUND]: text("There is no such operator.", management),
  [Reason.OPERATOR_NAME_TAKEN]: text("Another operator has this name.", management),
  [Reason.ACCOUNT_FROZEN]: text(
    "The account is frozen.",
    "Ask the operator, who froze it and can unfreeze it; the account's page has the reason.",
  ),
  [Reason.BUDGET_EXHAUSTED]: text(
    "The key's own budget, not the balance, is spent or does not pay for the prompt.",
    "Wait until its next period begins, unless the answer said that even the whole budget is too little, or have it raised.",
  ),
  [Reason.BUDGET_HELD]: text(
    "The key's running requests hold the rest of its budget.",
    "Wait until one ends, or ask for fewer tokens with max_tokens.",
  ),
  [Reason.WEBHOOK_NOT_FOUND]: text("There is no such webhook.", management),
  [Reason.MEMBER_NOT_FOUND]: text("The person has no place in the account.", management),
  [Reason.INVITATION_NOT_FOUND]: text(
    "The invitation was used, revoked or is too old.",
    "Ask an owner of the account for another one.",
  ),
  [Reason.LAST_OWNER]: text("The account would be left without an owner.", "Make another member an owner first."),
  [Reason.PASSKEY_NOT_FOUND]: text("The person has no such passkey.", management),
  [Reason.LAST_IDENTITY]: text("The person would have no way left to sign in.", "Make another passkey first."),
  [Reason.RECEIPT_ARCHIVED]: text(
    "The receipts of that day have left the books, and their archive is not in its place.",
    "Ask the operator, who has taken it away.",
  ),
  [Reason.ARCHIVE_CHANGED]: text(
    "The archive of that day's receipts is not the one that was written.",
    "Ask the operator to restore it from a copy.",
  ),
  [Reason.PAYMENT_PROVIDER_FAILED]: text(
    "The payment provider did not answer.",
    "Send the same request again: nothing is paid or paid back twice.",
  ),
  [Reason.PAYMENT_NOT_FOUND]: text("There is no such payment or checkout.", management),
  [Reason.NO_SERVER]: text(
    "No server of this model was up.",
    "Send it again as retry-after says. The operator sees in the status which servers are down, since when and why.",
  ),
};

/** The words for a reason by its name, such as "RATE_LIMITED". Undefined: no such reason. */
export function findReasonText(name: string): ReasonText | undefined {
  const reason = Reason[name as keyof typeof Reason];
  return reason === undefined ? undefined : reasonTexts[reason];
}
