import { useEffect, useState } from "preact/hooks";
import { Mark } from "../../app/mark.tsx";
import { navigate, query } from "../../app/router.ts";
import { session, signIn } from "../../app/session.ts";
import { ActionForm } from "../../parts/forms/action-form.tsx";
import { Field } from "../../parts/forms/field.tsx";

interface Options {
  readonly oidc: { readonly name: string } | null;
}

/** The sign-in page: an API key for customers, a token for operators, and the identity provider where there is one. */
export function SignInPage() {
  const [apiKey, setApiKey] = useState("");
  const [operatorToken, setOperatorToken] = useState("");
  const [options, setOptions] = useState<Options>({ oidc: null });
  const next = toPath(query.value.get("next"));
  useEffect(() => {
    document.title = "Sign in · Tollgate";
    void loadOptions().then(setOptions);
  }, []);
  useEffect(() => {
    if (session.value) {
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
          Tollgate
        </p>
        <h1>Sign in</h1>
        <p class="muted">With an API key you see its account. With the operator token you run the service.</p>
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
          <p class="or">
            <span>or</span>
          </p>
          <Field
            label="Operator token"
            name="operator-token"
            type="password"
            value={operatorToken}
            onInput={setOperatorToken}
            isCode
          />
        </ActionForm>
        {options.oidc && (
          <a class="button provider" href="/sign-in/oidc" target="_self">
            Continue with {options.oidc.name}
          </a>
        )}
        <div class="door-foot">
          <p>
            Running Tollgate yourself? <code>tollgate console-link</code> prints a link that signs you in once.
          </p>
        </div>
      </div>
    </main>
  );
}

async function loadOptions(): Promise<Options> {
  const response = await fetch("/sign-in/options").catch(() => undefined);
  return response?.ok ? ((await response.json()) as Options) : { oidc: null };
}

/** The page to go to after signing in: only a path of the console, otherwise the overview. */
function toPath(next: string | null): string {
  return next?.startsWith("/") && !next.startsWith("//") && !next.startsWith("/sign-in") ? next : "/overview";
}
