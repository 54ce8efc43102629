import { query, setQuery } from "../../app/router.ts";

export interface Tab {
  readonly value: string;
  readonly text: string;
}

interface Props {
  /** What is divided, for screen readers. */
  readonly name: string;
  readonly tabs: readonly Tab[];
  readonly chosen: Tab | undefined;
}

/** Parts of a page of which one is shown. Which one stands in the address. */
export function Tabs({ name, tabs, chosen }: Props) {
  return (
    <fieldset class="tabs">
      <legend class="visually-hidden">{name}</legend>
      {tabs.map((tab) => (
        <button
          type="button"
          key={tab.value}
          aria-pressed={tab === chosen}
          onClick={() => setQuery({ tab: tab === tabs[0] ? "" : tab.value })}
        >
          {tab.text}
        </button>
      ))}
    </fieldset>
  );
}

/** The tab that the address names. Without one: the first. */
export function tabOf(tabs: readonly Tab[]): Tab | undefined {
  const value = query.value.get("tab");
  return tabs.find((tab) => tab.value === value) ?? tabs[0];
}
