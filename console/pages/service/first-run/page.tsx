import { useState } from "preact/hooks";
import { Page } from "../../../parts/frame/page.tsx";
import { Engines } from "./engines.tsx";
import { FirstAccount, type FirstKey } from "./first-account.tsx";
import { FirstRequest } from "./first-request.tsx";

/** Three steps from nothing to an answer that was paid for. */
export default function FirstRunPage() {
  const [key, setKey] = useState<FirstKey | undefined>(undefined);
  return (
    <Page title="First steps" lead="An account with a key, a first answer, and what it cost: two buttons.">
      <ol class="steps">
        <li class="card">
          <h2>The servers that answer</h2>
          <Engines />
        </li>
        <li class="card">
          <h2>An account and its key</h2>
          <FirstAccount made={key} onMade={setKey} />
        </li>
        <li class="card">
          <h2>The first request</h2>
          <FirstRequest made={key} />
        </li>
      </ol>
    </Page>
  );
}
