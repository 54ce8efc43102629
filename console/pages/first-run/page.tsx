import { useState } from "preact/hooks";
import { ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { mayBill, session } from "../../app/session.ts";
import { accounts, catalogue } from "../../contract/clients.ts";
import { useRequestId } from "../../contract/request-id.ts";
import { countOf } from "../../format/numbers.ts";
import { Answer } from "../../parts/calls/answer.tsx";
import { useQuery } from "../../parts/calls/use-query.ts";
import { Copyable } from "../../parts/copy.tsx";
import { Badge } from "../../parts/figures/badge.tsx";
import { ActionForm } from "../../parts/forms/action-form.tsx";
import { Field } from "../../parts/forms/field.tsx";
import { Page } from "../../parts/page.tsx";

/** Three steps from nothing to an answer that was paid for. */
export default function FirstRunPage() {
  const [secret, setSecret] = useState("");
  return (
    <Page title="First steps" lead="From nothing to an answer that was paid for.">
      <ol class="steps">
        <li class="card">
          <h2>The engines that were found</h2>
          <Engines />
        </li>
        <li class="card">
          <h2>An account and its key</h2>
          {secret === "" ? <FirstAccount onSecret={setSecret} /> : <Copyable text={secret} what="the key" />}
        </li>
        <li class="card">
          <h2>The first request</h2>
          {secret === "" ? (
            <p class="muted">It needs the key from the step before.</p>
          ) : (
            <FirstRequest secret={secret} />
          )}
        </li>
      </ol>
    </Page>
  );
}

function Engines() {
  const query = useQuery(async (signal) => (await catalogue.listServers({}, { signal })).servers, []);
  return (
    <Answer query={query}>
      {(servers) => (
        <>
          <p>
            {countOf(servers.length, "server")} {servers.length === 1 ? "is" : "are"} there.{" "}
            {servers.some(({ engine }) => engine === "simulator") &&
              "They are simulated: they answer, and bill, without a GPU."}
          </p>
          <ul class="tags">
            {servers.map((server) => (
              <li key={server.id}>
                <Badge tone="good">{server.model}</Badge>
              </li>
            ))}
          </ul>
        </>
      )}
    </Answer>
  );
}

function FirstAccount({ onSecret }: { readonly onSecret: (secret: string) => void }) {
  const [name, setName] = useState("My first customer");
  const requestId = useRequestId();
  if (!mayBill.value) {
    return <p class="muted">Your role may not make accounts.</p>;
  }
  const send = async (): Promise<void> => {
    const { account } = await accounts.createAccount({ name: name.trim(), requestId });
    const { secret } = await accounts.createKey({ accountId: account?.id ?? "", name: "first key", requestId });
    onSecret(secret);
  };
  return (
    <ActionForm verb="Create account and key" send={send}>
      <Field label="Name" name="name" value={name} onInput={setName} hint="The free tier's money is given at once." />
    </ActionForm>
  );
}

function FirstRequest({ secret }: { readonly secret: string }) {
  const query = useQuery(async (signal) => {
    const { models } = await catalogue.listModels({}, { signal });
    return models.find(({ kind }) => kind === ModelKind.GENERATION)?.id ?? "";
  }, []);
  const publicUrl = session.value?.publicUrl ?? location.origin;
  return (
    <Answer query={query}>
      {(model) => (
        <div class="stack">
          <Copyable text={toCurl(publicUrl, secret, model)} what="the command" />
          <p>
            Or send it from the <a href="/playground">playground</a>. Its receipt is on the{" "}
            <a href="/overview">overview</a> at once.
          </p>
        </div>
      )}
    </Answer>
  );
}

function toCurl(publicUrl: string, secret: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] });
  return `curl ${publicUrl}/v1/chat/completions -H "authorization: Bearer ${secret}" -H "content-type: application/json" -d '${body}'`;
}
