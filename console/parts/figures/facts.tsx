import type { ComponentChildren } from "preact";

/** Something that is known, by its name. Without a value it is left out. */
export interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
}

/** Names and values in two columns. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts card">
      {facts.map(
        ({ name, value }) =>
          value && (
            <div class="fact" key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
