import { leaveFor } from "../../app/router.ts";
import { payments } from "../../contract/clients.ts";
import { Answer, Empty } from "../calls/answer.tsx";
import { useQuery } from "../calls/use-query.ts";
import { Amount } from "../figures/amount.tsx";
import { Table } from "../figures/table.tsx";
import { Time } from "../figures/time.tsx";
import { ActionButton } from "../forms/action-button.tsx";
import { Section } from "../frame/page.tsx";
import { returnUrl } from "./return-url.ts";

interface Props {
  readonly accountId: string;
  /** A change of it loads the list again. */
  readonly version: unknown;
}

/** The provider's invoices, and its page for card, address and tax id. */
export function Invoices({ accountId, version }: Props) {
  const query = useQuery(
    async (signal) => (await payments.listInvoices({ accountId }, { signal })).invoices,
    [accountId],
    undefined,
    version,
  );
  const openPortal = async (): Promise<void> => {
    const { url } = await payments.createPortalSession({ accountId, returnUrl: returnUrl() });
    leaveFor(url);
  };
  return (
    <Section title="Invoices" actions={<ActionButton act={openPortal}>Card, address and tax id</ActionButton>}>
      <Answer query={query}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="There is no invoice yet" />
          ) : (
            <Table
              caption="Invoices"
              rows={rows}
              keyOf={({ number, url }) => number || url}
              columns={[
                { name: "Number", isHeader: true, show: ({ number, url }) => <Link to={url} text={number || "–"} /> },
                { name: "Paid", isNumber: true, show: ({ totalPicoUsd }) => <Amount pico={totalPicoUsd} /> },
                { name: "State", isOptional: true, show: ({ status }) => status },
                { name: "Made", isNumber: true, isOptional: true, show: ({ at }) => <Time at={at} /> },
                { name: "File", show: ({ pdfUrl }) => <Link to={pdfUrl} text="PDF" /> },
              ]}
            />
          )
        }
      </Answer>
    </Section>
  );
}

/** A link to the provider's page. The text alone where there is none. */
function Link({ to, text }: { readonly to: string; readonly text: string }) {
  return to === "" ? (
    <span class="muted">{text}</span>
  ) : (
    <a href={to} target="_blank" rel="noreferrer">
      {text}
    </a>
  );
}
