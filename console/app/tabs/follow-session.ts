import { effect } from "@preact/signals";
import { isShownOnce } from "../../parts/forms/dialog-entry.ts";
import { askWho, type Session, session, sessionEnded } from "../session.ts";

/** How long to wait before looking again whether what is shown once has been closed. */
const lookMs = 200;

/**
 * Follows the browser's other tabs, with which this one shares its session: into another account, to somebody else, and
 * out. What a tab tells may be from before by now, so the server is asked. What is shown once stays until it is closed.
 */
export function followSession(): void {
  const tabs = new BroadcastChannel("tollgate-session");
  const tell = (): void => tabs.postMessage(holderOf(session.peek()));
  effect(() => {
    if (session.value !== undefined) {
      tell();
    }
  });
  const hear = async (holder: unknown): Promise<void> => {
    if (session.peek() === undefined || holder === holderOf(session.peek())) {
      return;
    }
    const now = await askWho(() => true);
    if (holderOf(now) === holderOf(session.peek())) {
      tell(); // it is the other tab that is behind
    } else if (now === null) {
      sessionEnded();
    } else {
      while (isShownOnce()) {
        await new Promise((resolve) => setTimeout(resolve, lookMs));
      }
      location.reload();
    }
  };
  tabs.addEventListener("message", ({ data }) => void hear(data));
}

/** Who holds a session, and in which account. */
function holderOf(whose: Session | null | undefined): string {
  return JSON.stringify(whose ? [whose.role, whose.personId || whose.keyId || whose.name, whose.accountId] : null);
}
