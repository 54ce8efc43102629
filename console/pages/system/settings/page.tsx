import { session } from "../../../app/session.ts";
import { formatTime } from "../../../format/time.ts";
import { Facts } from "../../../parts/figures/facts.tsx";
import { Name } from "../../../parts/figures/name.tsx";
import { Page, Section } from "../../../parts/frame/page.tsx";
import { Configuration } from "./configuration.tsx";
import { Operators } from "./operators.tsx";
import { Sessions } from "./sessions.tsx";
import { Webhooks } from "./webhooks.tsx";

/** How this Tollgate is configured, and its operators. */
export default function SettingsPage() {
  const facts = [
    { name: "Version", value: session.value?.version },
    { name: "Public address", value: <code>{session.value?.publicUrl}</code> },
    {
      name: "Signed in as",
      value: (
        <>
          <Name text={session.value?.name ?? ""} />, {session.value?.role}
        </>
      ),
    },
    { name: "Until", value: formatTime(new Date(session.value?.expiresAt ?? 0)) },
  ];
  return (
    <Page title="Settings" lead="How this Tollgate is set up, and who runs it.">
      <Facts facts={facts} />
      <Section title="Configuration">
        <Configuration />
      </Section>
      <Section title="Operators">
        <Operators />
      </Section>
      <Section title="Sessions">
        <Sessions />
      </Section>
      <Section title="Webhooks">
        <Webhooks />
      </Section>
    </Page>
  );
}
