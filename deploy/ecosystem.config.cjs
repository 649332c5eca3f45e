// pm2 start ecosystem.config.cjs
module.exports = {
  apps: [{
    name: "sandboxrun",
    script: "sandboxrun",        // a path, or a name on PATH
    args: "serve",
    interpreter: "none",         // a native program, no node
    exec_mode: "fork",           // reload stops the old server before it starts the new one
    instances: 1,
    wait_ready: true,            // the server says when it answers
    listen_timeout: 15000,
    kill_timeout: 10000,         // the server stops within two seconds; active runs go on
    stop_exit_codes: [2],        // a wrong configuration is not tried again
    exp_backoff_restart_delay: 200,
    max_memory_restart: "512M",
    merge_logs: true,
    time: false                  // each line of the log has its time
  }]
};
