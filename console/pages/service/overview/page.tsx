import { isCustomer } from "../../../app/session.ts";
import { CustomerOverview } from "./customer/overview.tsx";
import { OperatorOverview } from "./operator/overview.tsx";

/** The current state: of the service for an operator, of the account for a customer. */
export default function OverviewPage() {
  return isCustomer.value ? <CustomerOverview /> : <OperatorOverview />;
}
