import { useEffect, useState } from "preact/hooks";
import { navigate, query } from "../../../app/router.ts";
import { farewell, firstAfterSignIn, session, signIn } from "../../../app/session.ts";
import { Mark } from "../../../app/shell/mark.tsx";
import { keepNextPage, takeNextPage } from "../../../app/tabs/next-page.ts";
import { siteLinks, siteName } from "../../../contract/site.ts";
import { ActionForm } from "../../../parts/forms/action-form.tsx";
import { Field } from "../../../parts/forms/field.tsx";
import { MailLink } from "./mail.tsx";
import { Passkey } from "./passkey.tsx";

interface Provider {
  readonly id: string;
  readonly name: string;
  readonly forOperators: boolean;
}

interface Options {
  readonly providers: readonly Provider[];
  /** The host that passkeys are for. Empty: there are none here. */
  readonly passkeyHost: string;
  /** Whether people sign up by themselves. */
  readonly signUp: boolean;
  /** Whether people sign in by a link that comes by mail. */
  readonly mail: boolean;
}

const noOptions: Options = { providers: [], passkeyHost: "", signUp: false, mail: false };

/** The sign-in page: identity providers first, then a passkey, a link by mail, an API key, and the ways of operators behind a word. */
export function SignInPage() {
  const [apiKey, setApiKey] = useState("");
  const [operatorToken, setOperatorToken] = useState("");
  const [{ providers, passkeyHost, signUp, mail }, setOptions] = useState<Options>(noOptions);
  const next = toPath(query.value.get("next"));
  useEffect(() => {
    document.title = `Sign in · ${siteName()}`;
    void loadOptions().then(setOptions);
  }, []);
  useEffect(() => {
    if (session.value) {
      takeNextPage(); // of a sign-in that was begun and left
      navigate(next, { replace: true });
    }
  }, [session.value]);
  const send = async (): Promise<void> => {
    const credential = { apiKey: apiKey.trim(), operatorToken: operatorToken.trim() };
    if ((credential.apiKey === "") === (credential.operatorToken === "")) {
      throw new Error("Fill in one of the two fields: the API key, or the operator token.");
    }
    await signIn(
      credential.apiKey === "" ? { operatorToken: credential.operatorToken } : { apiKey: credential.apiKey },
    );
  };
  return (
    <main class="door">
      <div class="door-box">
        <p class="brand">
          <Mark />
          {siteName()}
        </p>
        <h1>Sign in</h1>
        {farewell.value && (
          <p class="notice" role="status">
            {farewell.value}
          </p>
        )}
        {next.startsWith("/invitation/") && (
          <p>You are invited into an account: the invitation comes after signing in.</p>
        )}
        <Providers providers={providers.filter(({ forOperators }) => !forOperators)} next={next} />
        <Passkey host={passkeyHost} maySignUp={signUp} />
        {mail && <MailLink next={next} />}
        <p class="muted">With an API key you see its account.</p>
        <ActionForm verb="Sign in" send={send}>
          <Field
            label="API key"
            name="api-key"
            type="password"
            value={apiKey}
            onInput={setApiKey}
            isCode
            placeholder="tg-…"
            autocomplete="current-password"
          />
          <details class="more">
            <summary>You run this service</summary>
            <Providers providers={providers.filter(({ forOperators }) => forOperators)} next={next} />
            <Field
              label="Operator token"
              name="operator-token"
              type="password"
              value={operatorToken}
              onInput={setOperatorToken}
              isCode
            />
          </details>
        </ActionForm>
        <div class="door-foot">
          {siteLinks().length > 0 && (
            <p class="door-links">
              {siteLinks().map(([text, href]) => (
                <a key={text} href={href}>
                  {text}
                </a>
              ))}
            </p>
          )}
          <p>
            Running Tollgate yourself? <code>tollgate console-link</code> prints a link that signs you in once.
          </p>
        </div>
      </div>
    </main>
  );
}

/** A button for each provider. The page to go to afterwards stays in the browser: the provider leads to the first one. */
function Providers({ providers, next }: { readonly providers: readonly Provider[]; readonly next: string }) {
  return (
    <>
      {providers.map(({ id, name }) => (
        <a key={id} class="button provider" href={`/sign-in/${id}`} target="_self" onClick={() => keepNextPage(next)}>
          Continue with {name}
        </a>
      ))}
    </>
  );
}

async function loadOptions(): Promise<Options> {
  const response = await fetch("/sign-in/options").catch(() => undefined);
  return response?.ok ? ((await response.json()) as Options) : noOptions;
}

/** The page to go to after signing in: only one of the console, whatever browsers make of an address, otherwise the overview. */
function toPath(next: string | null): string {
  if (!next?.startsWith("/") || !URL.canParse(next, location.origin)) {
    return firstAfterSignIn;
  }
  const { origin, pathname, search } = new URL(next, location.origin);
  return origin === location.origin && !pathname.startsWith("/sign-in") ? pathname + search : firstAfterSignIn;
}
