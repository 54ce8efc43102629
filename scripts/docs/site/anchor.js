/** The name that a heading gets, as forges name it: links of pages are written for those. */
export function toAnchor(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
