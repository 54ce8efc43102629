import { isCustomer } from "../../app/session.ts";
import { CustomerOverview } from "./customer.tsx";
import { OperatorOverview } from "./operator.tsx";

/** How things are now: the service for an operator, the account for a customer. */
export default function OverviewPage() {
  return isCustomer.value ? <CustomerOverview /> : <OperatorOverview />;
}
