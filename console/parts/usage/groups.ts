import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { isCustomer } from "../../app/session.ts";

/** What usage is grouped by first. */
export type GroupName = "account" | "key" | "model";
/** What usage is grouped by beside it. */
export type SecondName = GroupName | "hour" | "day";

/** The usage that is asked for. Empty: any. */
export type Filter = Readonly<Record<GroupName, string>>;

export const titles: Readonly<Record<SecondName, string>> = {
  account: "Account",
  key: "Key",
  model: "Model",
  hour: "Hour",
  day: "Day",
};

const seconds: readonly SecondName[] = ["model", "key", "account", "day", "hour"];

/** A customer has one account, so it cannot group by account. */
const isOffered = (name: SecondName): boolean => name !== "account" || !isCustomer.value;

/** The first grouping named in the address. */
export function firstOf(value: string | null): GroupName {
  return value === "key" || (value === "account" && isOffered(value)) ? value : "model";
}

/** The second grouping named in the address. Undefined: none. */
export function secondOf(value: string | null, first: GroupName): SecondName | undefined {
  return seconds.find((name) => name === value && name !== first && isOffered(name));
}

export function firstOptions() {
  return seconds.slice(0, 3).filter(isOffered).map(toOption);
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
    case "key":
      return "model";
  }
}

export function readFilter(query: URLSearchParams): Filter {
  const read = (name: GroupName) => query.get(name)?.trim() ?? "";
  return { account: isCustomer.value ? "" : read("account"), key: read("key"), model: read("model") };
}

/** The dimensions of groupings as the contract has them. Keys are grouped with their accounts, whose names say more. */
export function toUsageGroups(names: readonly (SecondName | undefined)[]): UsageGroup[] {
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
        return [];
    }
  });
  return [...new Set(groups)];
}

function toOption(name: SecondName) {
  return { value: name, text: titles[name] };
}
