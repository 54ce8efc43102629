import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { isCustomer } from "../../app/session.ts";

type BareName = "account" | "key" | "model";
/** A grouping by the values of an attribution label. */
type LabelGroup = `label:${string}`;
/** What usage is grouped by first. */
export type GroupName = BareName | LabelGroup;
/** What usage is grouped by beside it. */
export type SecondName = BareName | "hour" | "day";

/** The usage that is asked for. Empty: any. `label`: a label's name, "=" and the value, which is empty for none. */
export type Filter = Readonly<Record<BareName | "label", string>>;

const labelPrefix = "label:";
const isLabel = (name: string): name is LabelGroup => name.startsWith(labelPrefix);

/** The label of a grouping. Undefined: it is by something else. */
export const labelOf = (name: GroupName | SecondName): string | undefined =>
  isLabel(name) ? name.slice(labelPrefix.length) : undefined;

/** The label and the value of a filter. Undefined: any. */
export function readLabel({
  label,
}: Pick<Filter, "label">): { readonly name: string; readonly value: string } | undefined {
  const at = label.indexOf("=");
  return at < 1 ? undefined : { name: label.slice(0, at), value: label.slice(at + 1) };
}

export const titleOf = (name: GroupName | SecondName | "label"): string =>
  name === "label" ? "Label" : isLabel(name) ? (labelOf(name) ?? "") : titles[name];

const titles: Readonly<Record<SecondName, string>> = {
  account: "Account",
  key: "Key",
  model: "Model",
  hour: "Hour",
  day: "Day",
};

const seconds: readonly SecondName[] = ["model", "key", "account", "day", "hour"];

/** A customer has one account, so it cannot group by account. */
const isOffered = (name: SecondName): boolean => name !== "account" || !isCustomer.value;

/** The first grouping named in the address. Usage is told by one label at a time: a filter by one leaves none to group by. */
export function firstOf(value: string | null, { label }: Pick<Filter, "label">): GroupName {
  if (value !== null && isLabel(value) && label === "") {
    return value;
  }
  return value === "key" || (value === "account" && isOffered(value)) ? value : "model";
}

/** The second grouping named in the address. Undefined: none. */
export function secondOf(value: string | null, first: GroupName): SecondName | undefined {
  return seconds.find((name) => name === value && name !== first && isOffered(name));
}

/** `labels`: the names of labels that there are. */
export function firstOptions(labels: readonly string[], { label }: Pick<Filter, "label">) {
  const ofLabels = label === "" ? labels : [];
  return [
    ...seconds.slice(0, 3).filter(isOffered).map(toOption),
    ...ofLabels.map((name) => ({ value: labelPrefix + name, text: `Label ${name}` })),
  ];
}

export function secondOptions(first: GroupName) {
  return [
    { value: "", text: "nothing else" },
    ...seconds.filter((name) => name !== first && isOffered(name)).map(toOption),
  ];
}

/** What a row is looked into by: a model's accounts, an account's keys, a key's models. */
export function nextOf(first: GroupName): GroupName {
  switch (first) {
    case "model":
      return isCustomer.value ? "key" : "account";
    case "account":
      return "key";
    default:
      return "model";
  }
}

export function readFilter(query: URLSearchParams): Filter {
  const read = (name: keyof Filter) => query.get(name)?.trim() ?? "";
  return {
    account: isCustomer.value ? "" : read("account"),
    key: read("key"),
    model: read("model"),
    label: readLabel({ label: query.get("label") ?? "" }) === undefined ? "" : (query.get("label") ?? ""),
  };
}

/** The dimensions of groupings as the contract has them. Keys are grouped with their accounts, whose names say more. */
export function toUsageGroups(names: readonly (GroupName | SecondName | undefined)[]): UsageGroup[] {
  const groups = names.flatMap((name): UsageGroup[] => {
    switch (name) {
      case "account":
        return [UsageGroup.ACCOUNT];
      case "key":
        return isCustomer.peek() ? [UsageGroup.KEY] : [UsageGroup.ACCOUNT, UsageGroup.KEY];
      case "model":
        return [UsageGroup.MODEL];
      case "hour":
        return [UsageGroup.HOUR];
      case "day":
        return [UsageGroup.DAY];
      default:
        return name === undefined ? [] : [UsageGroup.LABEL];
    }
  });
  return [...new Set(groups)];
}

function toOption(name: SecondName) {
  return { value: name, text: titles[name] };
}
