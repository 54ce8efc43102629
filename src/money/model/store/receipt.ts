/** Keeps places for receipts, and removes those that have been archived. */
export interface ReceiptStore {
  /**
   * Makes places for the receipts of today and of the days to come, where one is missing and `isMine` lets this core do it
   * for all. Returns for how many days after today there is one. Undefined: all receipts have one place.
   */
  makeDays(now: number, isMine: () => Promise<boolean>): Promise<number | undefined>;
  /**
   * Removes receipts of days that this very database knows as archived: whole days at once where each has its place, of
   * others at most `most`, oldest first. Their cost stays with their slices in the seals of their days. Returns how many
   * were removed. A crash may bring them back.
   */
  removeReceipts(most: number): Promise<number>;
}
