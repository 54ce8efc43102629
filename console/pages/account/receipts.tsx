import { Section } from "../../parts/page.tsx";
import { ReceiptList } from "../../parts/receipts/receipt-list.tsx";

/** What it spent, newest first; each line opens to the pico-dollar. */
export function Receipts({ accountId }: { readonly accountId: string }) {
  return (
    <Section title="Receipts">
      <ReceiptList filter={{ accountId }} />
    </Section>
  );
}
