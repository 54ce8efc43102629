/** The machine lacks what an engine needs: its column tells why instead of results. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}
