import { Page } from "../../parts/page.tsx";

/** How the service is doing now. */
export default function OverviewPage() {
  return (
    <Page title="Overview">
      <p>…</p>
    </Page>
  );
}
