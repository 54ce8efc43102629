import type { SiteFacts } from "../../facades/http/site/facts.ts";

/** The facts of a service that says nothing of itself. */
export const plainSite: SiteFacts = {
  name: "Tollgate",
  logo: undefined,
  colour: undefined,
  terms: undefined,
  privacy: undefined,
  support: undefined,
  address: undefined,
};
