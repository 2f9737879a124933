import { newSecret } from '../../src/app/chance.js'
import { silentLogger } from '../../src/lib/log.js'
import { startEmbedded } from '../../src/stores/embedded/postgres.js'

// A process that starts the embedded server, says so and stays, for the tests that end it in several ways.
const server = await startEmbedded({ dataDir: process.argv[2] ?? '', logger: silentLogger, newSecret, fsync: false })
process.stdout.write(`${JSON.stringify({ pid: server.pid, reused: server.reused })}\n`)
process.stdin.resume()
process.stdin.once('end', () => {
  void server.stop().then(() => process.exit(0))
})
