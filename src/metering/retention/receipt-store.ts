/** Removes receipts that have been archived. */
export interface ReceiptStore {
  /**
   * Removes at most so many receipts that were settled before a time, in milliseconds since the epoch, the oldest first.
   * What they cost stays with their slices. Returns how many.
   */
  removeReceipts(before: number, most: number): Promise<number>;
}
