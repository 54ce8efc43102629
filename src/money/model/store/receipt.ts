/** Removes receipts that have been archived. */
export interface ReceiptStore {
  /**
   * Removes at most `most` receipts settled before a time, in milliseconds since the epoch, oldest first. Their cost
   * stays with their slices in the seals of their days. Returns how many were removed. A crash may bring them back.
   */
  removeReceipts(before: number, most: number): Promise<number>;
}
