/** Removes receipts that have been archived. */
export interface ReceiptStore {
  /**
   * Removes at most so many receipts that were settled before a time, in milliseconds since the epoch, the oldest first.
   * Their cost stays in the sums of their slices. Returns how many were removed; a crash may bring them back, sums and all.
   */
  removeReceipts(before: number, most: number): Promise<number>;
}
