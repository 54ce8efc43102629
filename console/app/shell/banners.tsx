import { useEffect } from "preact/hooks";
import { siteName } from "../../contract/site.ts";
import { isConnectionLost } from "../connection.ts";
import { session } from "../session.ts";

/** Notices for every page: that the server is unreachable, or that the connection is not encrypted. */
export function Banners() {
  useEffect(() => {
    document.body.classList.toggle("connection-lost", isConnectionLost.value);
  }, [isConnectionLost.value]);
  return (
    <>
      <div aria-live="polite" class={isConnectionLost.value ? "banner warn" : "visually-hidden"}>
        {isConnectionLost.value
          ? `The connection to ${siteName()} is lost. What you see is from before; it is tried again.`
          : ""}
      </div>
      {session.value?.insecure && (
        <p class="banner bad">
          This console is reached without TLS, so others on the network can read and change what you do here.
        </p>
      )}
    </>
  );
}
