// @ts-check
// Follows searches that take a while: tells what they have found so far, until they are done.

import { follow } from "./follow.js";
import { ask } from "./site.js";

/** @typedef {{job: string, version: number, state: string, done: number, of: number,
 *   error: string|null, result: any}} Job */

/** Call `tell` with a job after each change, until it has ended or nobody wants it any more.
 * @param {Job} job @param {(job: Job) => boolean|void} tell false: no longer
 * @returns {Promise<void>} */
export function followJob(job, tell) {
  if (tell(job) === false || job.state !== "running") return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = follow(`job:${job.job}`, async () => {
      try {
        const now = await ask("/api/jobs", { job: job.job });
        if (tell(now) !== false && now.state === "running") return;
        resolve();
      } catch (error) {
        // A server that does not answer may be back soon.
        if (error instanceof TypeError) return;
        reject(error);
      }
      end();
    });
  });
}
