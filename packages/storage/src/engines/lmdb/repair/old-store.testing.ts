/**
 * Directories of the release before format 3, recorded by running it: gzip in base64. One server ended cleanly;
 * the other was killed while its last three commits were in the journal only.
 *
 *   revision 1  core/namespaces/kube-system, a      2  a      3  b, gone      4  delete gone
 *            5  event (expires)      6  large      compacted to 2
 *            7  a = 3                8  c, event = 2 (expires later)
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const recorded = {
  closed: {
    'store.mdb': [
      'H4sIAAAAAAACA+3dvW/bRhjH8YcUJdOOdefYGQq0g9F26FIkVoMM7hIE6F9QoFNQlJaZyKglGZISpEAHI2s2DxkyZTT6BwQZiiJToaFoi0wGCnQoUK8d+/4C',
      'kTyKPFKJ5Lwq/X4GCSLvOVF0MvyOx6OIzY9ef3zwy1eutccbvayI+BeddJtjtTE1Ord1cntvQp3Z/vHnsi4AAAAAAOCJOM8o/6/OmP89q65K/gcAAAAA4Klx',
      'rfw92uLLsTpWX+h3dEtzhgAAAAAA8+9clHcXJbyxt9PbCfvJ5smXq81nP9+DL72w2e1tT+7AvC8k78vWEVwPe/2dbufxR2A6qOePoCrtcBA8trqSvCt7g5vJ',
      '/64c6SOSPwAAAAAAcyseEKjJlW6vHQwa6XX/aib/c/0fAAAAAPBqOfH1/9P5Hqa//r9k5e2Zr/+bDlbyR3DS6//Vkvx/Rh7W7+iWvqBFf6Nuq121qXz1sM6/',
      'FwAAAACYB2/n4qP44jjF+Be9O7e++7kl4fWwM2is21WjSFmYBT+uam5YFQu5CicNmWlF8N4Pp0Y70oqayKIVV53y31CN9hQjbP43bLyZr/Jk9NM96ysq0WFG',
      'VVe7nfCtfE0lOlt2TeabRjUbsm5XZX97SdWWfbbc0rPljI8taLyfr4ibv16W95O/SLcXnu0E7bC/FzTD/tlPr22F7/Y/6w/Cdqc/OtnWwbmyIpsqzv+e/lbd',
      'UdtqU/H/BwAAAACQR5qfJc2v22neKanIfEew8XTz/0Jp/j9Ql/VNfUEf6i/VsVL6gPwPAAAAAHhO1qJXJbtB72oo/8Z+H++vFVpG4wWm5R/jlqOBhlvfv/HR',
      'ftKyHuV90/DPcYau5HvMt/urZCxgLcnmW5lGhc7SVoFp9Xcms09u9U/ZwMBaMpLyiJSfqS9+i1+S/10Z6iF3/gMAAAAAMDfiaRSrkg55pJvj0ZHFQv73otGB',
      'zEyMWra/eE5BNAZzAwAAAMBLj1AEILJUyP+s/w8AAAAAeNWceP1/P9/D9Ov/m8KadQRTr/9vOljIH8GU6/8X7lg4VZL/Pbmrh/ou2R8AAAAAgBfstWQwoJKm',
      '9phZ1NBM3l9J2rnWAID5vGzVjfYo2VX28/844wAAAACAvNnX/+eJAS/u+X/10vx/X93Ul/Wh/kkt6/P6vmL9fwAAAADA8zLd+v//z6cEnHz9f1WS/2tyT3+t',
      'j/Q97gAAAAAAAOAlFOf6muz1rnXC7UbyeVGa3fZe0ByE2w3T4kq31w4GDdEl+d+Tff1A7+tPyP8AAAAAADyRc9GrX7hff2nK/WYeg1kG0MwbMOv5zbY+QPbm',
      'CVfOyCV1EN0BsKsO9SVl7gLgrwYAAAAAKCqdX//reO55PL/+ww/GM92bmVaGb/WXmQ//27iVU/hW5v9PN///dEn+d2Woh1z7BwAAAABgbsS5flXSwZaYL048',
      '7rFakv89aelD3dIXGQMAAAAAAOCRzPx9++EE9nP3pm1XT4N7TFv1J71P4D8apGflADABAA==',
    ],
  },
  crashed: {
    'store.journal-0': [
      'H4sIAAAAAAACAwvwYmBkYGCYPiH2ln0Q05UKBghgZMAGrBkZGKSxqWDsPv80gyE5vyhVPy8xN7W4IDE5tVg/uzQpVbe4srgkNTevGK4Nm9EKjAgDsRicaBgA',
      'cabd1FOHnC8+/7AdKs2E1ZnYTAPbCzXNCGpavcJbk14hJ0YJqBpmgqYxY7otyRAuh81nyowMDCy4dafn56XCPOdQyLjWT+O042aoChaszlFiZMQwkBnhOZCB',
      'UPOcMg11NcVzBK5BVbFCrL0gE9aAZJ4KI1SGAUEjOTC1LDWvBOpC7p/RRTvjrX/NNIMqYcPmQO7bSCayYZqYk1iUnloxCkbBKBgFo2AUjIJRMApGwSgY9ADW',
      'D1tzVZm/u2vqd2jLnp3ofhgTUq/OGGpaw/uKwp2GUrvOQNVwEDSNA0vn0xAuB+4MXQh2Re7uYOvmsKJ1c4wAKkbrww0PAAA=',
    ],
    'store.journal-1': ['H4sIAAAAAAACAwMAAAAAAAAAAAA='],
    'store.mdb': [
      'H4sIAAAAAAACA+3dvW/TQBjH8XOSBqcvdxVdkGBAwMCCaCLEAAt/BVOFcFP3RTRJ5aQVSAxV124dGJgYEX9A1QGhTqgDAsZKSAxIdGXmHdnxOfY5JknLW8r3',
      'o8pR7HsuVrff+fJECJMdHN/ufniWM64U/MOkEPYNKzpnGWN0jUqczR5fyKjT52/dF2cFAAAAAAA4Eus35f+xAfP/qFGXJ/8DAAAAAPDL5Iwc7p+xxYE8kE/U',
      'RbWo+A8BAAAAAIbfdJB3S8K9u7LkLbnN8HT242r93k7OYAvPrTa8uewJ9OuJ8HXcuIM112suNeq970BPMJG8gxFRc1tOz2r9WF2aJ3Kx/J8T+2qf5A8AAAAA',
      'wNBqLwgUxXzDqzmtSur79zz/BwAAAAAcPxnP/3v7Hsp4/t//BBnP/we+gz6f/+v3+rG/GOmS/3NiT+2R/AEAAAAAGBqTwdGO8r1l5P2iuSAgcmJSXJMP1aK6',
      'qgrqpXwo5+Q1yX8SAAAAAJD0ZsxPmbqfux8wS0bG1Bn0QnCMRo4EV0Y67zqszVfvF4W75tZb5XPJqoIQlhVtY89Hr5auWmjU3fPJmrxfkqqJfZJfUw4bz8eq',
      'gkmzq2bLRkUuUdF5je7NqRgVVnBnZkXsM5zydbPC/zudXVFteO7lulNzmytO1W1evrM6615q3mu23Fq9GbUTSOb/LTmjNtRV9Vg9lQdSqi3yPwAAAADgD5kK',
      'jlIsO96Cq7e/f+xcL6ZGBusFeuSnzkh/oWHz9Zmb6+HIiSDv64GfOxk6n5wxOe5Ll7WAqTCbz8YGpSaLRjl61NdYZs8e9a3bwsBUuJLyk5Qfq09/it0l/7P/',
      'HwAAAACA4dLeRnFSREse0en26kgplf8LwepAbCdGMT5fe09BsAZzFwAAAMA/j1AEIDCayv/0/wcAAAAAHDcZ/f9798+3kzOY/f/TE5iFReMOjP7/2XegJziR',
      'vIPD9v8f65L/C+KR2lOPyP4AAAAAAPxlp8LFgHyU2tt0U0O9eb9X//9xo86/IsVy2P9fqBfygVym/z8AAAAAIGXw/v/8YsAgvxjwa/v/T3TN/ztyQ82ox+qd',
      'HFdX1I6k/z8AAAAA4E/pr/////krAYfv/y+75P+i2FbP1b7a5hsAAAAAAAD8g9q5vihWvNW6O1cJ35dEtVFbcaotd66iR8w3vJrTqgjVJf8XxLraVevqNvkf',
      'AAAAAIAjmQ6Odur7+qN9Xtf7GHQbQL1vQPfz67c/wA9M9eQpAAABAA==',
    ],
  },
} as const satisfies Record<string, Record<string, readonly string[]>>;

/** Makes a directory with the files of an old store. */
export function writeOldStore(directory: string, which: keyof typeof recorded): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const [name, lines] of Object.entries(recorded[which]))
    writeFileSync(join(directory, name), gunzipSync(Buffer.from(lines.join(''), 'base64')));
}
