// Builds `dist`, for `npm run build` and the image. `npm start` does the same when its inputs changed.

import { build, buildNeeded, prepareModules, requireNode } from './prepare.mjs'

requireNode()
const digest = buildNeeded()
prepareModules({ dev: digest !== null })
if (digest !== null) build(digest)
