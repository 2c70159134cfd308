// @ts-check
// Follows searches that take a while: tells what they have found so far, until they are done.

import { ask } from "./site.js";

/** @typedef {{job: string, version: number, state: string, done: number, of: number,
 *   error: string|null, result: any}} Job */

/** Call `tell` with a job after each change, until it has ended or nobody wants it any more.
 * @param {Job} job @param {(job: Job) => boolean|void} tell false: no longer */
export async function follow(job, tell) {
  let now = job;
  for (;;) {
    if (tell(now) === false || now.state !== "running") return;
    now = await ask("/api/jobs", { job: job.job, known: now.version });
  }
}
