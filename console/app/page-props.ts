/** A page's properties: the id in its path. Empty: the path has none. */
export interface PageProps {
  readonly id: string;
}
