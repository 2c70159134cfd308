// @ts-check
// Follows searches that take a while: tells what they have found so far, until they are done.

import { button, element } from "./dom.js";
import { follow } from "./follow.js";
import { ask, notice, shown, tell } from "./site.js";

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

/** A button that starts a job, and stops it while it runs. */
export class JobButton {
  /** @param {string} kind its id and classes @param {string} text @param {string} again its text once
   * the job has ended @param {() => Promise<Job>} start
   * @param {(result: any) => boolean|void} draw told what was found so far, or null; false: no longer */
  constructor(kind, text, again, start, draw) {
    this.again = again;
    this.start = start;
    this.draw = draw;
    this.started = false;
    this.job = "";
    this.button = button(kind, text, () => this.press());
    this.progress = /** @type {HTMLProgressElement} */ (
      element("progress", { hidden: true, max: 1, value: 0, "aria-label": "Progress" })
    );
  }

  async press() {
    if (this.job) await shown(() => tell("/api/jobs/stop", { job: this.job }));
    if (this.started) return;
    this.started = true;
    this.button.textContent = "Stop";
    this.progress.hidden = false;
    await shown(async () => {
      const job = await this.start();
      this.job = job.job;
      await followJob(job, ({ done, of, error, result }) => {
        this.progress.value = of ? done / of : 0;
        if (error) notice(error);
        return this.draw(result);
      });
    });
    this.started = false;
    this.job = "";
    this.progress.hidden = true;
    this.button.textContent = this.again;
  }
}
