import { Section } from "../../../parts/frame/page.tsx";
import { ReceiptList } from "../../../parts/receipts/receipt-list.tsx";

/** The account's receipts, newest first. Each opens to exact amounts. */
export function Receipts({ accountId }: { readonly accountId: string }) {
  return (
    <Section title="Receipts">
      <ReceiptList filter={{ accountId }} />
    </Section>
  );
}
