"""ldiv beside other tools on UCI Adult: python -m experiments.peers"""
