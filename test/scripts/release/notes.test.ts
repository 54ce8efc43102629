import { expect, test } from "@jest/globals";
import { readNotes } from "../../../scripts/release/notes.ts";

const changelog = "# Changelog\n\n## Unreleased\n\n## 0.2.0\n\n- b\n\n### More\n\n- c\n\n## 0.1.0\n\n- a\n";

test.each([
  ["0.2.0", "- b\n\n### More\n\n- c\n"],
  ["0.1.0", "- a\n"],
])("the notes of %s are its section", (version, notes) => {
  expect(readNotes(changelog, version)).toBe(notes);
});

test.each(["0.2", "Unreleased", ""])("a version %j of which nothing is said is refused", (version) => {
  expect(() => readNotes(changelog, version)).toThrow(`CHANGELOG.md says nothing of ${version}`);
});
