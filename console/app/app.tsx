import { useEffect } from "preact/hooks";
import { SignInPage } from "../pages/sign-in/page.tsx";
import { isConnectionLost } from "./connection.ts";
import { navigate, path } from "./router.ts";
import { session } from "./session.ts";
import { Shell } from "./shell.tsx";

/** The whole console: the door for those outside, the pages for those inside. */
export function App() {
  const isOutside = session.value === null || path.value === "/sign-in";
  const isHome = path.value === "/";
  useEffect(() => {
    if (isHome && session.value) {
      navigate("/overview", { replace: true });
    }
  }, [isHome, session.value]);
  if (session.value === undefined) {
    return isConnectionLost.value ? <Unreachable /> : null;
  }
  return isOutside ? <SignInPage /> : <Shell />;
}

/** Before anything is known of who looks. */
function Unreachable() {
  return (
    <main class="door">
      <div class="door-box">
        <h1>Tollgate cannot be reached</h1>
        <p class="muted" role="status">
          This page tries again by itself.
        </p>
      </div>
    </main>
  );
}
