import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

/** What a query asks for. */
export interface Query {
  /** Series by name, with the labels that it matches: name, and the text or the pattern. */
  readonly selectors: readonly { readonly name: string; readonly matchers: readonly (readonly [string, string])[] }[];
  /** Labels that it groups or joins by. */
  readonly groupings: readonly string[];
}

/** Parses PromQL as Prometheus does; Grafana's variables are put in place. Throws for a wrong one. */
export function parseQuery(text: string): Query {
  const query = text.replaceAll(/\$__(rate_interval|range)\b/g, "5m");
  const selectors: { name: string; matchers: [string, string][] }[] = [];
  const groupings: string[] = [];
  const textOf = ({ from, to }: { from: number; to: number }) => query.slice(from, to);
  parser.parse(query).iterate({
    enter({ type, node, from }) {
      if (type.isError) {
        throw new Error(`no PromQL at ${from}: ${query}`);
      }
      if (type.name === "VectorSelector") {
        selectors.push({ name: "", matchers: [] });
      }
      const selector = selectors.at(-1);
      if (type.name === "Identifier" && selector && node.parent?.name === "VectorSelector") {
        selector.name = textOf(node);
      }
      if (type.name === "UnquotedLabelMatcher") {
        selector?.matchers.push(matcherOf(node, textOf));
      }
      if (type.name === "LabelName" && node.parent?.name === "GroupingLabels") {
        groupings.push(textOf(node));
      }
    },
  });
  return { selectors, groupings };
}

function matcherOf(node: SyntaxNode, textOf: (node: SyntaxNode) => string): [string, string] {
  const [label, value] = [node.getChild("LabelName"), node.getChild("StringLiteral")];
  if (label === null || value === null) {
    throw new Error(`no label matcher: ${textOf(node)}`);
  }
  return [textOf(label), textOf(value).slice(1, -1)];
}
