import { useEffect } from "preact/hooks";
import { siteName } from "../contract/site.ts";
import { SignInPage } from "../pages/system/sign-in/page.tsx";
import { isConnectionLost } from "./connection.ts";
import { navigate, path, query } from "./router.ts";
import { isCustomer, session } from "./session.ts";
import { Shell } from "./shell/shell.tsx";

/** The whole console: the sign-in page for visitors, the other pages for people who are signed in. */
export function App() {
  const isOutside = session.value === null || path.value === "/sign-in";
  const isHome = path.value === "/";
  useEffect(() => {
    if (isHome && session.value) {
      // Somebody who comes back from the provider's page of a payment that a program opened.
      const checkout = isCustomer.value ? query.value.get("checkout") : null;
      navigate(checkout === null ? "/overview" : `/money?${query.value}`, { replace: true });
    }
  }, [isHome, session.value]);
  if (session.value === undefined) {
    return isConnectionLost.value ? <Unreachable /> : null;
  }
  return isOutside ? <SignInPage /> : <Shell />;
}

/** Shown until the server says who is signed in. */
function Unreachable() {
  return (
    <main class="door">
      <div class="door-box">
        <h1>{siteName()} cannot be reached</h1>
        <p class="muted" role="status">
          This page tries again by itself.
        </p>
      </div>
    </main>
  );
}
