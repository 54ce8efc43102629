/** The ways to a thing. One that is absent on purpose says why: "-", then the reason. */
export interface Doors {
  /** Methods and fields of the contract, which gRPC and Connect serve alike: "AccountsService.UpdateKey limits.models", or its answer's: "AccountsService.ListKeys > keys.limits.models". */
  readonly contract: readonly string[] | `- ${string}`;
  /** Commands with an option: "keys set-limits --models", or a field of what they print: "keys list > limits.models". */
  readonly cli: readonly string[] | `- ${string}`;
  /** What a customer meets over HTTP: "GET /v1/key > data.models", or a status: "POST /v1/messages 403". */
  readonly openapi: readonly string[] | `- ${string}`;
  /** Metrics, some with a label's value: "tollgate_limit_refusals_total budget". */
  readonly metrics: readonly string[] | `- ${string}`;
  /** Panels of the dashboard, by how their titles begin. */
  readonly dashboard: readonly string[] | `- ${string}`;
  /** Fields of the configuration, where it has a say. */
  readonly config?: readonly string[];
  /** Headings: "money.md: The budget of a key". */
  readonly docs: readonly string[];
  /** Pages of the console. */
  readonly console: readonly string[] | `- ${string}`;
}

// Why a door is absent, where many are for one reason.
export const operatorsAlone = "- it is the operator's";
export const noFigure = "- it is no figure: requests that change it are in tollgate_requests_total";
export const noPanel = "- it has no metric of its own";

/** The panel of what limits refuse. */
export const refusals = "Refusals by limit";
