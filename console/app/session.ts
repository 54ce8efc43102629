import { computed, signal } from "@preact/signals";
import { siteName } from "../contract/site.ts";
import { makePasskey, type Offer, usePasskey } from "../parts/people/passkeys.ts";
import { reach, reachAtLast } from "./connection.ts";
import { address, navigate, path } from "./router.ts";
import { takeNextPage } from "./tabs/next-page.ts";

/** Who is signed in, from `GET /session`. */
export interface Session {
  readonly role: "owner" | "billing" | "reader" | "customer";
  /** The operator's name, or the customer's. */
  readonly name: string;
  /** The person who signed in. Empty: an operator's token, or a customer with a key. */
  readonly personId: string;
  /** The person's role in the account. Empty: no person, or one without an account. */
  readonly memberRole: "" | "viewer" | "developer" | "owner";
  /** A customer's account. Empty: an operator, or a person without an account. */
  readonly accountId: string;
  /** The key that a customer signed in with. Empty: none. */
  readonly keyId: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  /** Whether the connection is unencrypted, so that others can read it. */
  readonly insecure: boolean;
  /** The URL of the public surfaces, for examples. */
  readonly publicUrl: string;
  /** The account that pays for an operator's playground. Empty: there is none. */
  readonly demoAccountId: string;
  readonly version: string;
}

/** Undefined: not known yet. Null: nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** What somebody is told who has left. Empty: nothing. */
export const farewell = signal("");

export const isCustomer = computed(() => session.value?.role === "customer");

/** Whether the role may change accounts, money and keys. */
export const mayBill = computed(() => session.value?.role === "owner" || session.value?.role === "billing");

/** Whether the account's keys may be made and changed: by operators and developers. */
export const mayChangeKeys = computed(
  () => mayBill.value || session.value?.memberRole === "developer" || session.value?.memberRole === "owner",
);

/** Whether a member is signed in. */
export const isMember = computed(() => session.value?.memberRole !== undefined && session.value.memberRole !== "");

/** Whether an owner of the account is signed in. */
export const isAccountOwner = computed(() => session.value?.memberRole === "owner");

/** Whether money may be paid and asked back: by operators and the account's owners. */
export const mayPay = computed(() => mayBill.value || isAccountOwner.value);

/** Whether a person without an account is signed in. */
export const isWithoutAccount = computed(
  () => isCustomer.value && session.value?.personId !== "" && session.value?.accountId === "",
);

/** The page that everybody begins at. */
export const firstPage = computed(() => (isWithoutAccount.value ? "/people" : "/overview"));

/** Whether the role may change prices and servers. */
export const mayOwn = computed(() => session.value?.role === "owner");

/** Where every way in leads. */
export const firstAfterSignIn = "/overview";

/** Asks who is signed in until the server answers. Until then nobody is taken for signed out. */
export async function loadSession(): Promise<void> {
  const now = await askWho(() => session.peek() === undefined);
  if (now !== undefined) {
    session.value = now;
    goOn();
  }
}

/** Who is signed in by the server's word, for which it waits. Undefined: that is not wanted any more. */
export async function askWho(isWanted: () => boolean): Promise<Session | null | undefined> {
  const response = await reachAtLast("/session", isWanted);
  if (response === undefined) {
    return undefined;
  }
  return response.ok ? ((await response.json()) as Session) : null;
}

/** Goes to the page for whose sake somebody signed in elsewhere. Whoever has gone to another one since stays there. */
function goOn(): void {
  const next = session.peek() ? takeNextPage() : undefined;
  if (next !== undefined && path.peek() === firstAfterSignIn) {
    navigate(next, { replace: true });
  }
}

/** Signs in with an operator's token or an API key. Throws an error with a reason for people. */
export async function signIn(
  credential: { readonly operatorToken: string } | { readonly apiKey: string },
): Promise<void> {
  session.value = await post<Session>("/session", credential);
}

/** Signs in with a passkey. */
export async function signInWithPasskey(): Promise<void> {
  const { options, pending } = await post<Offer>("/sign-in/passkey/begin", {});
  session.value = await post<Session>("/sign-in/passkey", { credential: await usePasskey(options), pending });
}

/** Has a link mailed that signs in. */
export async function askForMail(email: string): Promise<void> {
  await send("/sign-in/mail", { email });
}

/** Makes a passkey for somebody new. */
export async function signUpWithPasskey(name: string): Promise<void> {
  const { options, pending } = await post<Offer>("/sign-in/passkey/begin", { name });
  session.value = await post<Session>("/sign-up/passkey", { credential: await makePasskey(options), pending });
}

/** Signs out, and says why where that is not plain. Stays signed in when the server cannot be reached. */
export async function signOut(why = ""): Promise<void> {
  if ((await reach("/session", "DELETE")) === undefined) {
    return;
  }
  farewell.value = why;
  session.value = null;
  navigate("/sign-in");
}

/** A call was refused because the session has ended: goes to the sign-in page, which leads back to this page and its filters. */
export function sessionEnded(): void {
  if (session.peek()) {
    farewell.value = "Your session has ended. Sign in again to go on.";
    session.value = null;
    navigate(`/sign-in?next=${encodeURIComponent(address.peek())}`, { replace: true });
  }
}

/** Opens another account of the person. */
export async function switchAccount(accountId: string): Promise<void> {
  session.value = await post<Session>("/session/account", { accountId });
}

/** Creates a key of an account that ends with the session. Members name their own. */
export async function makeSessionKey(accountId: string): Promise<string> {
  return (await post<{ readonly key: string }>("/session/key", { accountId })).key;
}

/** Throws an error with a reason for people. */
async function post<Result>(path: string, body: object): Promise<Result> {
  return (await (await send(path, body)).json()) as Result;
}

async function send(path: string, body: object): Promise<Response> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) {
    throw new Error(await readReason(response));
  }
  return response;
}

async function readReason(response: Response): Promise<string> {
  const body: { error?: { message?: string } } = await response.json().catch(() => ({}));
  return body.error?.message ?? `${siteName()} answered ${response.status}.`;
}
