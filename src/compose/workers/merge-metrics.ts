/**
 * Merges the metrics of several processes into one document, in which every metric is described only once and its
 * samples stand together. Each text is in Prometheus' format, with a label that tells its process from the others.
 */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, { readonly comments: string[]; readonly samples: string[] }>();
  for (const text of texts) {
    let name = "";
    for (const line of text.split("\n")) {
      if (line === "") {
        continue;
      }
      const comment = /^# (?:HELP|TYPE) (\S+)/.exec(line);
      name = comment?.[1] ?? name;
      const family = families.get(name) ?? { comments: [], samples: [] };
      families.set(name, family);
      if (!comment) {
        family.samples.push(line);
      } else if (!family.comments.includes(line)) {
        family.comments.push(line);
      }
    }
  }
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments, ...samples]);
  return `${lines.join("\n")}\n`;
}
